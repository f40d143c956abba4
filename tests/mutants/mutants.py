#!/usr/bin/env python3
"""Faults put into the code, one at a time: which of them do the tests see?

    tests/mutants/mutants.py draw [--seed N] [--count N]     faults.tsv, from the sources as they are
    tests/mutants/mutants.py redraw [--seed N]               others for the faults whose line is gone, and
                                                             faults of layers that have too few
    tests/mutants/mutants.py run [LAYER|ID]... [options]     tries the faults that have no result yet
    tests/mutants/mutants.py show [ID]...                    where a fault is, as a diff
    tests/mutants/mutants.py table                           the score of each layer, and the survivors

README.md in this folder says how it is meant to be used. Needs what the build and the tests need.
"""
import argparse
import fcntl
import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import tokenize

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FAULTS = os.path.join(HERE, 'faults.tsv')
RESULTS = os.path.join(HERE, 'results.tsv')
EQUIVALENT = os.path.join(HERE, 'equivalent.tsv')
SCRATCH = os.path.join(ROOT, 'build', 'mutants')

LEAST = 12  # faults of a layer
BUILD_SECONDS = 900
TEST_SECONDS = 120
SUITE_SECONDS = 900  # a test file of Python

# A layer: its folders, and the tests nearest to it (regular expressions), cheapest first. The tests of one
# file come first of all (NEAR). The names are those of ctest, and of the test files that ctest does not
# run (SUITES).
LAYERS = {
    'base': (['src/base'], [r'unit/(bytes|memory|cpu|status|store|list|compact|bitmap|set|key)/',
                            r'cli/store|crash/edits$']),
    'lines': (['src/lines'], [r'unit/lines/', r'fuzz/', r'cli/(lines|key|compressed)$']),
    'url': (['src/url'], [r'unit/(url_|scrapy|safebrowsing|expressions)', r'unit/kind|fuzz/',
                          r'cli/(canon|explain|profile)$']),
    'hash': (['src/hash'], [r'unit/(key|set|store|export)/', r'cli/(store_commands|merge)']),
    'bitmap': (['src/bitmap'], [r'unit/bitmap/', r'cli/sort$|fuzz/bitmap']),
    'small': (['src/small'], [r'unit/small/', r'fuzz/(small|module)$']),
    'foreign': (['src/foreign'], [r'unit/foreign/', r'fuzz/foreign$', r'cli/import_foreign$']),
    'filter': (['src/filter', 'src/tags', 'src/bits'], [r'unit/(compact|stash|rate|plan|counting|bloom|block)',
                                r'unit/(set|export|threads|filter_threads)', r'fuzz/', r'cli/(filter|plan)$']),
    'set': (['src/set'], [r'unit/(set|export|plan|threads|memory)/', r'fuzz/(import|set)',
                          r'cli/(store_commands|merge|filter|plan)']),
    'log': (['src/log'], [r'unit/(scan|store|threads)/', r'crash/(flips|alloc|access)$|fuzz/store',
                          r'crash/syncs$', r'cli/store', r'crash/(faults|power|kill|full_disk)$']),
    'store': (['src/store'], [r'unit/(store|export|threads|memory)/',
                              r'crash/(flips|alloc|access)$|fuzz/store', r'crash/syncs$', r'cli/store',
                              r'crash/(faults|power|kill|full_disk)$']),
    'list': (['src/list'], [r'unit/list', r'fuzz/list|crash/edits$', r'cli/(build|list)',
                            r'crash/list$']),
    'kind': (['src/kind'], [r'unit/(kind|list_cover)/', r'fuzz/', r'cli/(build|list_check)$']),
    'cli': (['cli', 'cli/print', 'cli/lines', 'cli/seen', 'cli/commands', 'cli/build', 'cli/import',
             'cli/options'],
            [r'cli/(lines|output|print|errors|stats|key|exclude|help|profile|compressed)$',
             r'cli/(canon|explain|plan|count|filter|loop|signals|threads|memory|progress)$',
             r'cli/(store|recheck|import|sort)', r'cli/(build|list)', r'cli/memory_out$']),
    'serve': (['cli/serve'], [r'fuzz/(serve|protocols)', r'cli/serve']),
    'leases': (['leases'], [r'unit/(leases|module_leases)/', r'fuzz/(leases|commands)$', r'cli/serve']),
    'module': (['module', 'module/server', 'module/value', 'module/keys', 'module/commands'],
               [r'unit/module_leases/', r'fuzz/(module|commands)$', r'cli/(redis|import_redis)',
                r'module/test_(bloom|urls|replies|limits|small|persistence|merge|payloads|guard)', r'module/']),
    'planner': (['planner'], [r'fuzz/planner$', r'pages/']),
    'bindings': (['bindings/python/src'], [r'python/test_(set|store|url|list|calls|arrow)$', r'python/']),
    'python': (['bindings/python/unseen', 'bindings/python/unseen/scrapy'],
               [r'python/test_(client|redis|url|docs)$', r'python/']),
}
# Test files that ctest does not run: each is a process, with the tools of an environment of Python.
SUITES = {'module': 'tests/module', 'python': 'bindings/python/tests'}
PARTNERS = 'redis xxhash mypy pyright pyarrow polars pandas duckdb w3lib Scrapy==2.19.0 datatrove'.split()
# The tests of a file of the tool, where its name does not say them.
NEAR = [
    (r'cli/build/', r'cli/build(_killed|_lines)?$'),
    (r'print/chart|commands/plan', r'cli/(plan|filter)$'),
    (r'(integers|cmd_sort|repeats)', r'cli/sort$'),
    (r'commands/cmd_edit', r'cli/(list_changes|build_changes)$'),
    (r'commands/cmd_health', r'cli/(store_commands|store_removal)$'),
    (r'commands/cmd_count', r'cli/(count|key)$'),
    (r'import/requests_seen', r'cli/import$'),
    (r'print/json|commands/.*json', r'cli/(json|explain|canon)$'),
    (r'print/output', r'cli/(output_name|output|errors|signals)$'),
    (r'print/(message|utf8)', r'cli/(errors|messages|help)$'),
    (r'print/progress|print/report', r'cli/(progress|stats)$'),
    (r'lines/(reader|stage|input|feed|magic|decode)', r'cli/(lines|compressed|encodings|line_ends|loop)$|fuzz/input'),
    (r'lines/(identity|key|json|text)', r'cli/(lines|key|key_json|key_missing|stats)$|fuzz/json'),
    (r'lines/profile', r'cli/(profile|errors)$'),
    (r'seen/', r'cli/(store|exclude|filter|store_output|store_mode|recheck)$'),
    (r'options/', r'cli/(errors|help|profile|plan)$'),
    (r'cli/address', r'cli/(remote|serve)$'),
    (r'seen/seed', r'cli/seed$'),
    (r'serve/listener', r'cli/serve_clients$'),
    (r'(serve|seen)/lease', r'crash/leases$|cli/(serve_memory|serve_clients)$'),
    (r'import/redis_set', r'cli/import$|fuzz/redis_set'),
    (r'module/.*(bloom|cuckoo|scandump|outline)', r'module/test_(bloom|small)$'),
    (r'module/.*(guard|lease|claims)', r'module/test_(guard|urls)$'),
    (r'module/.*(load|frames|dump|recipe)', r'module/test_(persistence|payloads|bloom)$'),
    (r'module/.*steps', r'module/test_steps$'),
    (r'module/.*shards', r'module/test_(shards|urls)$'),
    (r'python/.*(arrow|column|mask)', r'python/test_arrow$'),
    (r'python/unseen/scrapy', r'python/test_scrapy$'),
    (r'python/unseen/_redis', r'python/test_redis$'),
    (r'python/unseen/_(client|serve)', r'python/test_client$'),
]
REST = r'^(unit|cli|fuzz)/|^crash/[a-z_]+$'  # all of ctest that is quick, for those that survive so far
NEVER = r'cli/(examples|real|build_real)$'
KERNELS = ('lines', 'url', 'hash', 'bitmap', 'filter', 'list')  # layers with code for each level

# ---- finding places --------------------------------------------------------------------------------


def sources(root, layer):
    """The layer's files, sorted."""
    found = []
    for folder in LAYERS[layer][0]:
        path = os.path.join(root, folder)
        for name in sorted(os.listdir(path)):
            if name.endswith(('.c', '.h', '.py')):
                found.append(os.path.join(folder, name))
    return found


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read().split('\n')


def masked(lines):
    """The lines with comments and literals replaced by blanks of the same length."""
    out = []
    in_comment = False
    for line in lines:
        text = []
        i = 0
        while i < len(line):
            if in_comment:
                end = line.find('*/', i)
                stop = len(line) if end < 0 else end + 2
                in_comment = end < 0
                text.append(' ' * (stop - i))
                i = stop
            elif line.startswith('/*', i):
                in_comment = True
                text.append('  ')
                i += 2
            elif line[i] in '"\'':
                end = i + 1
                while end < len(line) and line[end] != line[i]:
                    end += 2 if line[end] == '\\' else 1
                stop = min(end + 1, len(line))
                text.append('_' * (stop - i))
                i = stop
            else:
                text.append(line[i])
                i += 1
        out.append(''.join(text))
    return out


def python_lines(lines):
    """Numbers of the lines inside of functions, with their text without comments and literals."""
    blank = list(lines)
    begins = set()  # lines with which a statement begins
    source = io.StringIO('\n'.join(lines) + '\n')
    fresh = True
    for token in tokenize.generate_tokens(source.readline):
        (row, column), (last, end) = token.start, token.end
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for i in range(row - 1, last):
                start = column if i == row - 1 else 0
                stop = end if i == last - 1 else len(lines[i])
                blank[i] = blank[i][:start] + '_' * (stop - start) + blank[i][stop:]
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT):
            fresh = fresh or token.type == tokenize.NEWLINE
        elif fresh:
            begins.add(row - 1)
            fresh = False
    skipped = r'\s*(def|class|import|from|@|_+$|async def)\b|\s*_*$|\S'
    return [(i, text, i in begins) for i, text in enumerate(blank) if not re.match(skipped, text)]


def code_lines(lines):
    """Numbers of the lines that are statements or conditions, with their masked text, and whether a
    statement begins there."""
    found = []
    depth = 0
    in_enum = False
    for i, text in enumerate(masked(lines)):
        stripped = text.strip()
        if stripped.startswith('#'):
            continue
        if re.match(r'(static const |const )?[a-z_ ]*\b(enum|struct|union)\b[^()]*\{$', stripped):
            in_enum = True
        if depth > 0 and stripped not in ('', '{', '}', '};') and not in_enum:
            found.append((i, text, re.search(r'[;{}:]$|\*/$', neighbour(lines, i, -1))))
        depth += text.count('{') - text.count('}')
        if stripped.startswith('}'):
            in_enum = False
    return found


# ---- operators -------------------------------------------------------------------------------------
# Each gives (name, the line with the fault) for a line, at each place where it applies.


def replace_each(name, pattern, make):
    def operator(line, text):
        for m in re.finditer(pattern, text):
            new = make(m)
            if new is not None:
                yield name, line[:m.start()] + new + line[m.end():]
    return operator


SWAP = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
ARITHMETIC = {'+': '-', '-': '+', '<<': '>>', '>>': '<<', '|': '&', '&': '|', '^': '|', '*': '+', '%': '/'}


def number(by):
    def make(m):
        digits = m.group(0)
        if re.match(r'0[xX]', digits) or by < 0 and digits == '0':
            return None
        return str(int(digits) + by)
    return make


def negate(line, text):
    m = re.match(r'(\s*(?:\} else )?(?:if|while) )\((.*)\) \{$', text)
    if m and text.count('(') == text.count(')'):
        start, end = m.start(2), m.end(2)
        yield 'negate', line[:start] + '!(' + line[start:end] + ')' + line[end:]


def drop(line, text):
    if re.match(r'\s*(\(void\))?[a-z_][a-z_0-9>.-]*\(.*\);$', text):
        yield 'drop-call', re.match(r'\s*', line).group(0) + ';'
    elif re.match(r'\s*[a-z_*][^;()=]*(\([^;=]*\))?[^;()=]*\s([-+*/|&^]|<<|>>)?=\s.*;$', text) \
            and not re.match(r'\s*(const|static|struct|enum|unsigned|uint|size_t|int|bool|char|double|u?int\d+_t)\b', text):
        yield 'delete', re.match(r'\s*', line).group(0) + ';'
    elif re.match(r'\s*[a-z_>.-]+(\+\+|--);$', text):
        yield 'delete', re.match(r'\s*', line).group(0) + ';'


def leave(line, text):
    m = re.match(r'(\s*return )(true|false|UNSEEN_ERR_\w+|0|NULL|status|code)(;)$', text)
    swap = {'true': 'false', 'false': 'true', '0': '1', 'status': 'UNSEEN_OK', 'code': '0'}
    if m and m.group(2) != 'NULL':
        yield 'return', m.group(1) + swap.get(m.group(2), 'UNSEEN_OK') + ';'


def python_negate(line, text):
    m = re.match(r'(\s*(?:el)?if |\s*while )(.*):$', text)
    if m and all(text.count(a) == text.count(b) for a, b in ('()', '[]', '{}')):
        yield 'negate', line[:m.start(2)] + 'not (' + line[m.start(2):m.end(2)] + ')' + line[m.end(2):]


def python_drop(line, text):
    indent = re.match(r'\s*', line).group(0)
    if not all(text.count(a) == text.count(b) for a, b in ('()', '[]', '{}')):
        return
    if re.match(r'\s*(await )?[a-z_][\w.]*\(.*\)$', text):
        yield 'drop-call', indent + 'pass'
    elif re.match(r'\s*self\.[\w.]+(\[.*\])? ([-+*/|&^])?= ', text):
        yield 'delete', indent + 'pass'


def python_leave(line, text):
    m = re.match(r'(\s*return )(True|False|None|0)$', text)
    if m:
        swap = {'True': 'False', 'False': 'True', 'None': 'True', '0': '1'}
        yield 'return', m.group(1) + swap[m.group(2)]


PYTHON_OPERATORS = [
    replace_each('logic', r'\b(and|or)\b', lambda m: 'or' if m.group(0) == 'and' else 'and'),
    python_negate,
    python_drop,
    python_leave,
]
OPERATORS = [
    replace_each('relation', r'(?<![-<>=!])(<=|>=|==|!=|<|>)(?![<>=])(?= )', lambda m: SWAP[m.group(1)]),
    replace_each('logic', r'&&|\|\|', lambda m: '||' if m.group(0) == '&&' else '&&'),
    replace_each('arithmetic', r'(?<= )(\+|-|<<|>>|\||&|\^|\*|%)(?= )', lambda m: ARITHMETIC[m.group(1)]),
    replace_each('plus-one', r'(?<![\w.])\d+(?![\w.])', number(1)),
    replace_each('minus-one', r'(?<![\w.])\d+(?![\w.])', number(-1)),
    negate,
    drop,
    leave,
]


def neighbour(lines, i, step):
    i += step
    while 0 <= i < len(lines) and not lines[i].strip():
        i += step
    return lines[i].strip() if 0 <= i < len(lines) else ''


def places(file, lines):
    return python_lines(lines) if file.endswith('.py') else code_lines(lines)


def candidates(root, layer):
    found = []
    for file in sources(root, layer):
        lines = read(os.path.join(root, file))
        # Relations, arithmetic and numbers are written alike in C and Python.
        operators = OPERATORS[:1] + OPERATORS[2:5] + PYTHON_OPERATORS if file.endswith('.py') else OPERATORS
        for i, text, begins in places(file, lines):
            for operator in operators:
                for name, new in operator(lines[i], text):
                    if new != lines[i] and (begins or operator not in (drop, python_drop)):
                        found.append((layer, name, file, neighbour(lines, i, -1), lines[i].strip(),
                                      neighbour(lines, i, 1), new.strip()))
    return found


def locate(root, fault):
    """The file and line of a fault, found by its text: in its file, or wherever it has moved to. Of the
    lines around, one may have changed, unless the file is of another layer."""
    files = [fault['file']] if os.path.exists(os.path.join(root, fault['file'])) else []
    for layer in [fault['layer']] + list(LAYERS):
        files += [f for f in sources(root, layer) if f not in files]
    near = set(sources(root, fault['layer'])) | {fault['file']}
    best = None
    for file in files:
        lines = read(os.path.join(root, file))
        for i, line in enumerate(lines):
            if line.strip() == fault['line']:
                points = (neighbour(lines, i, -1) == fault['before']) + \
                         (neighbour(lines, i, 1) == fault['after'])
                if points == 2:
                    return file, i
                if points and file in near and (best is None or points > best[0]):
                    best = (points, file, i)
        if best and file == fault['file']:
            break
    return best[1:] if best else None


# ---- tables ----------------------------------------------------------------------------------------

COLUMNS = ['id', 'layer', 'operator', 'file', 'before', 'line', 'after', 'new']


def load(path, columns):
    rows = []
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            for line in f:
                if line.strip() and not line.startswith('#'):
                    values = line.rstrip('\n').split('\t')
                    rows.append(dict(zip(columns, values + [''] * len(columns))))
    return rows


def results():
    """The last result of each fault."""
    return {r['id']: r for r in load(RESULTS, ['id', 'result', 'by', 'seconds', 'commit'])}


def equivalent():
    return {r['id']: r['reason'] for r in load(EQUIVALENT, ['id', 'reason'])}


def note(fault, result, by, seconds, commit):
    with open(RESULTS, 'a', encoding='utf-8') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write('\t'.join([fault['id'], result, by, '%.0f' % seconds, commit]) + '\n')
    print('%-12s %-10s %s' % (fault['id'], result, by), flush=True)


# ---- draw ------------------------------------------------------------------------------------------


def pick_some(rng, places_of_layer, count, used):
    """So many of the places, no line twice. Operators in turn, so that constants, which are everywhere, do
    not take all the room."""
    by_operator = {}
    for c in places_of_layer:
        by_operator.setdefault(c[1], []).append(c)
    chosen = []
    while len(chosen) < count and not all(c[2:6] in used for c in places_of_layer):
        for name in sorted(by_operator):
            left = [c for c in by_operator[name] if c[2:6] not in used]
            if left and len(chosen) < count:
                pick = rng.choice(left)
                used.add(pick[2:6])
                chosen.append(pick)
    return chosen


def draw(options):
    if os.path.exists(FAULTS) and not options.force:
        sys.exit('%s is there already: results belong to it (--force writes it anew)' % FAULTS)
    rng = random.Random(options.seed)
    nlines = {}
    for layer in LAYERS:
        nlines[layer] = sum(len(places(f, read(os.path.join(ROOT, f)))) for f in sources(ROOT, layer))
    rows = []
    for layer in LAYERS:
        share = options.count * nlines[layer] // sum(nlines.values())
        all_of_it = candidates(ROOT, layer)
        chosen = pick_some(rng, all_of_it, max(share, LEAST), set())
        rows += [('%s-%02d' % (layer, i + 1),) + c for i, c in enumerate(chosen)]
        print('%-7s %5d lines of code, %5d places, %3d drawn' %
              (layer, nlines[layer], len(all_of_it), len(chosen)))
    with open(FAULTS, 'w', encoding='utf-8') as f:
        f.write('# seed %d; %s\n' % (options.seed, '\t'.join(COLUMNS)))
        for row in rows:
            f.write('\t'.join(row) + '\n')


def redraw(options):
    """Another fault of the same layer and operator for each fault whose line is gone; then faults for the
    layers that have fewer than LEAST."""
    rng = random.Random(options.seed)
    faults = load(FAULTS, COLUMNS)
    gone = {f['id'] for f in faults if group_of(f) != 'planted' and not locate(ROOT, f)}
    used = {tuple(f[c] for c in COLUMNS[3:7]) for f in faults}
    last = {}
    for f in faults:
        name, n = f['id'].rsplit('-', 1)
        last[name] = max(last.get(name, 0), int(n))
    rows = [f for f in faults if f['id'] not in gone]
    for old in (f for f in faults if f['id'] in gone):
        found = [c for c in candidates(ROOT, old['layer']) if c[1] == old['operator'] and c[2:6] not in used]
        if not found:
            continue
        pick = rng.choice(found)
        used.add(pick[2:6])
        last[old['layer']] = last.get(old['layer'], 0) + 1
        rows.append(dict(zip(COLUMNS, ('%s-%02d' % (old['layer'], last[old['layer']]),) + pick)))
        print('%-10s %s' % (old['id'], rows[-1]['id']))
    layers = list(LAYERS)
    for layer in layers:
        missing = LEAST - sum(f['layer'] == layer and group_of(f) == layer for f in rows)
        for pick in pick_some(rng, candidates(ROOT, layer), missing, used):
            last[layer] = last.get(layer, 0) + 1
            rows.append(dict(zip(COLUMNS, ('%s-%02d' % (layer, last[layer]),) + pick)))
            print('%-10s %s' % ('', rows[-1]['id']))
    rows.sort(key=lambda f: layers.index(f['layer']))
    rewrite(FAULTS, lambda line: False, ('\t'.join(f[c] for c in COLUMNS) for f in rows))
    for path in (RESULTS, EQUIVALENT):
        rewrite(path, lambda line: line.split('\t')[0] not in gone, [])


def rewrite(path, keeps, rows):
    """Keeps the comments and the lines that `keeps` wants, and adds rows."""
    with open(path, encoding='utf-8') as f:
        kept = [line for line in f if line.startswith('#') or keeps(line)]
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(kept + [row + '\n' for row in rows])


# ---- run -------------------------------------------------------------------------------------------


def run(command, seconds, cwd=None, env=None):
    """The exit status and the output; 124 if it takes too long. Nothing it started goes on."""
    child = subprocess.Popen(command, cwd=cwd, env=dict(os.environ, **(env or {})), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        out, _ = child.communicate(timeout=seconds)
        return child.returncode, out.decode(errors='replace')
    except subprocess.TimeoutExpired:
        return 124, ''
    finally:
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def make_tree(tree):
    """A copy of the sources with a build of its own. What is there already is brought up to date."""
    os.makedirs(tree, exist_ok=True)
    names = subprocess.check_output(['git', 'ls-files', '-z', '-co', '--exclude-standard'], cwd=ROOT)
    for name in names.decode().split('\0'):
        source, target = os.path.join(ROOT, name), os.path.join(tree, name)
        if name and os.path.islink(source) and not os.path.lexists(target):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.readlink(source), target)
        if not name or not os.path.isfile(source) or os.path.islink(source):
            continue
        data = open(source, 'rb').read()
        if not os.path.isfile(target) or open(target, 'rb').read() != data:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    shared = os.path.join(os.path.dirname(ROOT), 'shared')  # of the tests' real lists
    link = os.path.join(os.path.dirname(tree), 'shared')
    if os.path.isdir(shared) and not os.path.lexists(link):
        os.symlink(os.path.realpath(shared), link)
    build = os.path.join(tree, 'build')
    if not os.path.exists(os.path.join(build, 'build.ninja')):
        status, out = run(['cmake', '-G', 'Ninja', '-S', tree, '-B', build, '-DCMAKE_BUILD_TYPE=None',
                           '-DCMAKE_C_FLAGS=-O1 -DNDEBUG', '-DUNSEEN_BENCH=OFF', '-DUNSEEN_WERROR=OFF'],
                          BUILD_SECONDS)
        if status != 0:
            sys.exit(out)
    status, out = run(['ninja', '-j', '2', '-C', build], 4 * BUILD_SECONDS)
    if status != 0:
        sys.exit(out[-3000:])
    return build


def tests_of(build):
    _, out = run(['ctest', '--test-dir', build, '-N'], 100)
    suites = ['%s/%s' % (suite, name[:-3]) for suite, folder in SUITES.items()
              for name in sorted(os.listdir(os.path.join(ROOT, folder))) if name.startswith('test_')]
    return re.findall(r'^ *Test +#\d+: (\S+)$', out, re.M) + suites + ['pages/planner']


def is_of_ctest(name):
    return name.split('/')[0] not in (*SUITES, 'pages')


def environment(tree):
    """A Python with the package of the tree and the partners of the tests."""
    python = os.path.join(os.path.dirname(tree), 'python', 'bin', 'python')
    if not os.path.exists(python):
        subprocess.check_call(['/usr/bin/python3', '-m', 'venv', os.path.dirname(os.path.dirname(python))])
        subprocess.check_call([python, '-m', 'pip', 'install', '-q'] + PARTNERS)
    return python


def run_suite(name, tree, build):
    """A test file that ctest does not run: its exit status."""
    suite, test = name.split('/')
    if suite == 'pages':
        return run([os.path.join(tree, 'tests/pages/planner.sh')], SUITE_SECONDS, tree, {'BUILD': build})[0]
    python = environment(tree)
    tests = {'UNSEEN': build + '/unseen', 'UNSEEN_MODULE': build + '/unseen.so', 'MODULE': build + '/unseen.so',
             'MODULE_CLUSTER': '1', 'PAYLOADS': '5000', 'PYTHONDONTWRITEBYTECODE': '1'}
    return run([python, '-W', 'error', '-m', 'unittest', '-f', test], SUITE_SECONDS,
               os.path.join(tree, SUITES[suite]), tests)[0]


def nearest(fault, names):
    """Lists of tests, the nearest first; no test is in two."""
    patterns = []
    words = re.sub(r'^cmd_|_(avx2|avx512|x86|kernel|ops|moves|grow|wide.*|template|fast)$', '',
                   os.path.basename(fault['file']).rsplit('.', 1)[0])
    patterns.append(r'^unit/[a-z_]*%s[a-z_]*/|^cli/%s$' % (re.escape(words), re.escape(words)))
    patterns[0] += ''.join('|' + tests for files, tests in NEAR if re.search(files, fault['file']))
    patterns += LAYERS[fault['layer']][1]
    patterns.append(REST)
    levels = '^$'
    if fault['layer'] not in KERNELS:
        levels = '/(portable|avx512)$'
    elif not re.search('avx512|x86', fault['file']):
        levels = '/avx512$'
    # A test that has no kernels has one level, which depends on the processor: it is always wanted.
    tests = [n.rsplit('/', 1)[0] for n in names]
    names = [n for n in names if not re.search(r'^unit/', n) or tests.count(n.rsplit('/', 1)[0]) == 1 or
             not re.search(levels, n)]
    never = NEVER
    if fault['layer'] in ('cli', 'serve'):
        never += r'|^unit/|crash/(flips|alloc|access|list)$'  # the tool is not in these programs
    done = set()
    for pattern in patterns:
        chosen = [n for n in names if re.search(pattern, n) and not re.search(never, n) and n not in done]
        done.update(chosen)
        if chosen:
            yield chosen


def targets_of(tests):
    """What has to be built for these tests; None: everything."""
    targets = set()
    for name in tests:
        group, rest = name.split('/', 1)
        first = rest.split('/')[0]
        if not is_of_ctest(name):
            targets.update(['unseen', 'unseen_module'])
        elif group == 'unit':
            targets.add('test_' + first)
        elif group == 'fuzz':
            targets.add('replay_' + first)
        elif group == 'cli':
            targets.add('unseen')
        else:
            targets.update(['unseen', 'crash_shim'] + ([] if first == 'full_disk' else ['crash_' + first]))
    return sorted(targets)


def try_fault(fault, tree, build, names, options):
    place = locate(tree, fault)
    if not place:
        return 'gone', ''
    path = os.path.join(tree, place[0])
    original = open(path, encoding='utf-8').read()
    lines = original.split('\n')
    indent = re.match(r'\s*', lines[place[1]]).group(0)
    lines[place[1]] = indent + fault['new']
    try:
        with open(path, 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines))
        for step, tests in enumerate(nearest(fault, names)):
            if step >= options.depth:
                break
            status, out = run(['ninja', '-j', '2', '-C', build] + targets_of(tests), BUILD_SECONDS)
            if status != 0:
                return 'broken', (re.findall(r'error: (.*)', out) or [''])[0][:100].replace('\t', ' ')
            regex = '^(' + '|'.join(re.escape(t) for t in tests if is_of_ctest(t)) + ')$'
            status, out = run(['ctest', '--test-dir', build, '-R', regex, '--stop-on-failure', '-j',
                               str(options.jobs), '--timeout', str(TEST_SECONDS)], 3600)
            failed = re.findall(r'^\s*\d+ - (\S+) \((\w+)', out, re.M)
            if failed:
                return 'killed', '%s (%s)' % failed[0]
            if status != 0:
                return 'killed', 'ctest: ' + str(status)
            suites = [t for t in tests if not is_of_ctest(t)]
            if any(t.startswith('python/') for t in suites):
                status, out = run([environment(tree), '-m', 'pip', 'install', '-q', '--no-deps', '--force-reinstall',
                                   os.path.join(tree, 'bindings/python')], BUILD_SECONDS)
                if status != 0:
                    return 'broken', (re.findall(r'error: (.*)', out) or [''])[0][:100].replace('\t', ' ')
            for name in suites:
                status = run_suite(name, tree, build)
                if status != 0:
                    return 'killed', '%s (%s)' % (name, 'Timeout' if status == 124 else 'Failed')
        return 'survived', '' if step < options.depth else 'depth %d' % options.depth
    finally:
        with open(path, 'w', encoding='utf-8') as f:
            f.write(original)


def group_of(fault):
    """Its layer; faults that were not drawn are a group of their own."""
    return 'planted' if fault['id'].startswith('planted-') else fault['layer']


def is_wanted(fault, wanted):
    return not wanted or group_of(fault) in wanted or fault['id'] in wanted


def run_all(options):
    tree = os.path.join(options.scratch, 'part%d' % options.part, 'tree')
    os.makedirs(os.path.dirname(tree), exist_ok=True)
    alone = open(os.path.join(os.path.dirname(tree), 'lock'), 'w')
    try:
        fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit('another run works in %s: use another --part' % tree)
    build = make_tree(tree)
    names = tests_of(build)
    commit = subprocess.check_output(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT).decode().strip()
    end = time.time() + options.minutes * 60
    faults = [f for f in load(FAULTS, COLUMNS) if is_wanted(f, options.what)]
    if options.what:  # in the order in which they were asked for
        faults.sort(key=lambda f: min(options.what.index(w) for w in (group_of(f), f['id'])
                                      if w in options.what))
    for k, fault in enumerate(faults):
        if k % options.parts != options.part or fault['id'] in equivalent():
            continue
        old = results().get(fault['id'])
        if old and not (options.again and old['result'] in options.again.split(',')):
            continue
        if time.time() > end:
            print('the time is over')
            break
        begin = time.time()
        result, by = try_fault(fault, tree, build, names, options)
        note(fault, result, by, time.time() - begin, commit)


# ---- show, table -----------------------------------------------------------------------------------


def show(options):
    known = results()
    for fault in load(FAULTS, COLUMNS):
        if is_wanted(fault, options.what):
            place = locate(ROOT, fault)
            r = known.get(fault['id'], {})
            print('%s  %s  %s  %s %s' % (fault['id'], fault['operator'],
                                         '%s:%d' % (place[0], place[1] + 1) if place else 'gone',
                                         r.get('result', ''), r.get('by', '')))
            print('    - %s\n    + %s' % (fault['line'], fault['new']))


def table(options):
    known = results()
    same = equivalent()
    print('| layer | faults | broken | equivalent | killed | survived | to do | score |\n|---|---|---|---|---|---|---|---|')
    total = [0] * 6
    left = []
    for layer in list(LAYERS) + ['all', 'planted']:
        n = dict.fromkeys(['broken', 'equivalent', 'killed', 'survived', 'to do'], 0)
        faults = [f for f in load(FAULTS, COLUMNS) if group_of(f) == layer]
        for f in faults:
            r = known.get(f['id'], {}).get('result', 'to do')
            r = 'equivalent' if f['id'] in same else 'broken' if r == 'gone' else r
            n[r] += 1
            if r == 'survived':
                left.append(f)
        row = [len(faults)] + list(n.values())
        row = total if layer == 'all' else row
        total = [a + b for a, b in zip(total, row)] if layer in LAYERS else total
        tried = row[3] + row[4]
        print('| %s | %s | %s |' % (layer, ' | '.join(map(str, row)),
                                    '%.0f %%' % (100 * row[3] / tried) if tried else ''))
    for f in left:
        print('\n%s (%s, %s)\n    - %s\n    + %s' % (f['id'], f['file'], f['operator'], f['line'], f['new']))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    p = commands.add_parser('draw')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--count', type=int, default=150)
    p.add_argument('--force', action='store_true')
    p = commands.add_parser('redraw')
    p.add_argument('--seed', type=int, default=1)
    p = commands.add_parser('run')
    p.add_argument('what', nargs='*', metavar='LAYER|ID')
    p.add_argument('--minutes', type=float, default=60, help='begin no fault later than that')
    p.add_argument('--depth', type=int, default=99, help='try only so many groups of tests')
    p.add_argument('--again', default='', metavar='RESULTS', help='such as survived: those once more')
    p.add_argument('--part', type=int, default=0, help='this run does each --parts-th fault')
    p.add_argument('--parts', type=int, default=1)
    p.add_argument('--jobs', type=int, default=2, help='tests at a time')
    p.add_argument('--scratch', default=SCRATCH, help='where the copies of the sources are')
    for name in ('show', 'table'):
        p = commands.add_parser(name)
        p.add_argument('what', nargs='*', metavar='LAYER|ID')
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('stopped'))
    {'draw': draw, 'redraw': redraw, 'run': run_all, 'show': show, 'table': table}[options.command](options)


if __name__ == '__main__':
    main()

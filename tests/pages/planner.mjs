// The planner page in a real browser, against `unseen plan --json`.
//
//     node planner.mjs PAGE UNSEEN [FOLDER]        FOLDER: screenshots are left there
//
// Prints a line for each check that fails; exits with status 1 if one did.
import {execFileSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {open} from './browser.mjs';

const [, , page, unseen, folder] = process.argv;
const url = pathToFileURL(resolve(page)).href;
let nchecks = 0, nfailed = 0;

function check(is, words) {
    nchecks++;
    if (!is) {
        nfailed++;
        console.log(`failed: ${words}`);
    }
}

// What the tool prints; null if it refuses the question.
function tool(question) {
    const options = [['--capacity', question.n], ['--fpr', question.p], ['--memory', question.m]];
    const words = options.flatMap(([option, value]) => value ? [option, value] : []);
    try {
        return execFileSync(unseen, ['plan', '--json', ...words], {encoding: 'utf8', stdio: 'pipe'});
    } catch (error) {
        return error.status === 1 ? error.stdout : null;
    }
}

// The first place where two answers differ; '' if there is none. Numbers may differ in the last of their
// six digits: the machines' exp and log do. Up to 10^6 keys the bytes of a set contain its structs, in which the
// page's pointers are half as long as the tool's.
function difference(a, b, path = '', few = a.capacity <= 1e6 ? a.capacity : 0) {
    if (typeof a === 'number' && typeof b === 'number') {
        if (few && /\.filters\.\d+\.(bytes|bits_per_key)$/.test(path)) {
            const slack = path.endsWith('bytes') ? 1000 : 8000 / few;
            return Math.abs(a - b) <= slack + 2e-3 * Math.max(a, b) ? '' : `${path}: ${a}, ${b}`;
        }
        return Math.abs(a - b) <= 1e-5 * Math.max(Math.abs(a), Math.abs(b)) || Math.max(a, b) < 1e-17 ? '' : `${path}: ${a}, ${b}`;
    }
    if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) {
        return a === b ? '' : `${path}: ${a}, ${b}`;
    }
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        const found = difference(a[key], b[key], `${path}.${key}`, few);
        if (found) {
            return found;
        }
    }
    return '';
}

const browser = await open();
const problems = [];
browser.listeners.add(message => {
    if (message.method === 'Runtime.exceptionThrown') {
        problems.push(message.params.exceptionDetails.exception?.description);
    }
});

// Whether nothing stands below the sentence: no empty box, button or axis.
const hidden = `[...document.querySelectorAll('pre, .more, .copy, svg, table')].every(e => e.getClientRects().length === 0)`;

// Types a question into the fields, as a hand would, and waits for the whole answer.
async function ask(question) {
    await browser.evaluate(`(() => { const q = ${JSON.stringify(question)};
        for (const id of ['n', 'p', 'm']) document.getElementById(id).value = q[id] || '';
        window.unseenDone = 0;
        document.getElementById('n').dispatchEvent(new Event('input', {bubbles: true})); })()`);
    await browser.until('window.unseenDone > 0');
    return browser.evaluate(`({plan: window.unseenPlan, ms: window.unseenTime, verdict: document.getElementById('verdict').innerText,
        hidden: ${hidden}, bad: ['n', 'p', 'm'].filter(id => document.getElementById(id).getAttribute('aria-invalid') === 'true').join('')})`);
}

async function check_answers() {
    const questions = [{}];
    for (const n of ['', '1', '1000', '123457', '1e6', '1e8', '1e10', '3e13', '1e18', '18446744073709551615']) {
        for (const p of ['', '0.5', '0.01', '1e-4', '3.3e-6', '5e-9', '1e-12']) {
            questions.push({n, p});
        }
    }
    for (const m of ['1', '100K', '8G', '30G', '64T']) {
        questions.push({m}, {n: '1e8', m}, {p: '1e-4', m}, {n: '1e9', p: '1e-6', m}, {n: '2e10', p: '1e-4', m});
    }
    const times = [];
    for (const question of questions) {
        const words = JSON.stringify(question), answer = await ask(question);
        const text = Object.values(question).join('') ? tool(question) : null;
        if (text) {
            const found = difference(JSON.parse(text), (({whole, ...rest}) => rest)(answer.plan));
            check(found === '', `${words}: tool and page differ: ${found}`);
        }
        check(answer.bad === '' && answer.verdict.length > 10 && !answer.hidden, `${words}: ${answer.bad} ${answer.verdict}`);
        times.push(answer.ms);
    }
    times.sort((a, b) => a - b);
    console.log(`${questions.length} questions; the first answer came after ${times[times.length >> 1].toFixed(1)} ms (median), ` +
        `${times[times.length - 1].toFixed(1)} ms at most`);
}

// What people type, and what the tool calls it; null: the field is marked.
async function check_spellings() {
    const same = [['n', '100 000 000', '1e8'], ['n', '100,000,000', '1e8'], ['n', '10^9', '1e9'], ['n', '10⁹', '1e9'],
        ['n', '3 × 10^7', '3e7'], ['n', '250M', '250M'], ['n', '2 billion', '2e9'], ['n', '1亿', '1e8'], ['n', '５０００万', '5e7'],
        ['p', '1 %', '0.01'], ['p', '0.5%', '0.005'], ['p', '1/10000', '1e-4'], ['p', '1 in 1000', '1e-3'], ['p', '.02', '0.02'],
        ['m', '8 GB', '8G'], ['m', '512 MiB', '512M'], ['m', '8g', '8G'], ['m', '1.5 TB', '1.5T'], ['m', '4096 bytes', '4096'],
        ['n', 'many', null], ['n', '-5', null], ['n', '0', null], ['n', '1.5', null], ['n', '1e400', null], ['n', 'NaN', null],
        ['n', 'Infinity', null], ['n', '9'.repeat(400), null], ['n', '<b>1</b>', null], ['n', '0x10', null],
        ['n', 'million', null], ['p', '%', null], ['p', '0', null], ['p', '1', null], ['p', '100%', null], ['p', '-1e-4', null], ['p', '1e-999', null], ['p', '2', null],
        ['m', '8 apples', null], ['m', '0', null], ['m', '1e99', null], ['m', '9999999T', null]];
    for (const [field, typed, meant] of same) {
        const answer = await ask({n: '1e7', [field]: typed});
        if (meant === null) {
            check(answer.bad === field && answer.hidden, `${field} = ${typed} is not refused`);
            continue;
        }
        const found = difference(JSON.parse(tool({n: '1e7', [field]: meant})), (({whole, ...rest}) => rest)(answer.plan));
        check(answer.bad === '' && found === '', `${field} = ${typed} is not ${meant}: ${answer.bad} ${found}`);
    }
}

// What a reader sees: the rows, the commands, the sentence about what cannot be; both languages.
async function check_words() {
    await ask({n: '2e10', p: '1e-4', m: '30G'});
    check(/No structure can do this/.test(await browser.evaluate('document.getElementById("verdict").innerText')), 'the impossible is said');
    await browser.evaluate('document.getElementById("zh").click()');
    check(/任何结构都做不到/.test(await browser.evaluate('document.getElementById("verdict").innerText')), 'the impossible is said in Chinese');
    check(await browser.evaluate('document.documentElement.lang') === 'zh-CN', 'the language of the page');
    check(await browser.evaluate('!/undefined|NaN|\\{\\d\\}/.test(document.body.innerText)'), 'no hole in the Chinese page');
    await browser.evaluate('document.getElementById("en").click()');
    await ask({n: '1e8', p: '1e-4'});
    await browser.evaluate('document.querySelector("tr[data-id=block] input").click()');
    const shell = await browser.evaluate('document.getElementById("shell").textContent');
    check(shell.startsWith('unseen --filter block --fpr 0.0001 --capacity 100000000 urls.txt'), `the command is ${shell}`);
    check(/\.filter = "block", \.fpr = 0\.0001, \.capacity = 100000000u/.test(await browser.evaluate('document.getElementById("c").textContent')), 'the C');
    check(await browser.evaluate('document.querySelectorAll("#rows tr[data-id]").length') === 6, 'six rows at first');
    await browser.evaluate('document.getElementById("more").click()');
    check(await browser.evaluate('document.querySelectorAll("#rows tr[data-id]").length') === 12, 'all rows');
    check(await browser.evaluate('document.querySelectorAll("#chart1 path").length') >= 6, 'curves');
    check(await browser.evaluate('!/undefined|NaN|\\{\\d\\}/.test(document.body.innerText)'), 'no hole in the page');
    // A hash names a question.
    await browser.evaluate('location.hash = "#n=5e6&p=1e-3&lang=en"');
    await browser.until('window.unseenPlan.capacity === 5e6');
    for (const [wrong, marked] of [['n=100%20million&p=0', 'p'], ['n=many&p=2&m=8%20apples', 'n,p,m'], ['n=', ''], ['n=%ff&p=%', 'n,p']]) {
        await browser.go('about:blank');
        await browser.go(`${url}#${wrong}&lang=en`);
        await browser.until('window.unseenDone > 0');
        const found = await browser.evaluate(`[...document.querySelectorAll('[aria-invalid=true]')].map(e => e.id).join()`);
        check(found === marked && await browser.evaluate(hidden) === (marked !== ''), `a link with ${wrong}: ${found}`);
        check(marked === '' || /^Correct the fields/.test(await browser.evaluate('document.getElementById("verdict").innerText')), `a link with ${wrong} is told`);
    }
    await browser.go('about:blank');
    await browser.go(`${url}#n=5e6&p=1e-3&lang=en`);
    await browser.until('window.unseenDone > 0');
}

// Keyboard and screen reader: every control is reached by Tab and has a name; the answer is announced.
async function check_access() {
    await browser.evaluate('document.activeElement.blur()');
    const reached = [];
    for (let i = 0; i < 40; i++) {
        await browser.call('Input.dispatchKeyEvent', {type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9});
        await browser.call('Input.dispatchKeyEvent', {type: 'keyUp', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9});
        reached.push(await browser.evaluate('(e => e.id || e.dataset.of || e.name || e.textContent)(document.activeElement)'));
    }
    for (const id of ['en', 'zh', 'n', 'p', 'm', 'row', 'more', 'shell', 'c']) {
        check(reached.includes(id), `${id} is not reached by Tab: ${reached}`);
    }
    await browser.call('Accessibility.enable');
    const {nodes} = await browser.call('Accessibility.getFullAXTree');
    const roles = ['textbox', 'button', 'radio', 'table', 'image', 'img'];
    const nameless = nodes.filter(node => !node.ignored && roles.includes(node.role?.value) && !node.name?.value);
    check(nameless.length === 0, `controls without a name: ${nameless.map(node => node.role.value)}`);
    check(nodes.filter(node => node.role?.value === 'textbox' && node.name?.value).length === 3, 'three named fields');
    check(await browser.evaluate('document.getElementById("verdict").getAttribute("aria-live")') === 'polite', 'the answer is announced');
    // An arrow key chooses another row.
    await browser.evaluate('document.querySelector("tr[data-id=compact] input").focus()');
    await browser.call('Input.dispatchKeyEvent', {type: 'rawKeyDown', key: 'ArrowDown', code: 'ArrowDown', windowsVirtualKeyCode: 40});
    check(/bloom/.test(await browser.evaluate('document.getElementById("use-title").textContent')), 'the arrow key chooses a row');
}

async function check_looks() {
    for (const width of [320, 400, 800, 1280]) {
        for (const scheme of ['light', 'dark']) {
            await browser.call('Emulation.setDeviceMetricsOverride', {width, height: 900, deviceScaleFactor: 1, mobile: false});
            await browser.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
            const wide = await browser.evaluate('document.documentElement.scrollWidth');
            check(wide <= width, `a window of ${width} pixels scrolls sideways: ${wide}`);
            if (folder) {
                mkdirSync(folder, {recursive: true});
                const {data} = await browser.call('Page.captureScreenshot');
                writeFileSync(join(folder, `planner-${width}-${scheme}.png`), Buffer.from(data, 'base64'));
            }
        }
    }
}

async function check_without_wasm() {
    const {identifier} = await browser.call('Page.addScriptToEvaluateOnNewDocument', {source: 'delete globalThis.WebAssembly'});
    await browser.go(url);
    check(/WebAssembly/.test(await browser.evaluate('document.getElementById("verdict").innerText')), 'no word about the missing WebAssembly');
    check(await browser.evaluate(hidden), 'empty boxes without WebAssembly');
    await browser.call('Page.removeScriptToEvaluateOnNewDocument', {identifier});
}

try {
    await browser.go(`${url}#n=1e8&p=1e-4&lang=en`);
    await browser.until('window.unseenDone > 0');
    await check_answers();
    await check_spellings();
    await check_words();
    await check_access();
    await check_looks();
    await check_without_wasm();
    check(problems.length === 0, `the page threw: ${problems.slice(0, 3)}`);
} catch (error) {
    check(false, error.stack);
} finally {
    await browser.close();
}
console.log(`${nchecks} checks, ${nfailed} failed`);
process.exit(nfailed ? 1 : 0);

// A headless Chromium, spoken to through its debugging pipe.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

// Starts the browser with these further options. It ends with close().
export async function open(options = []) {
    const profile = mkdtempSync(join(tmpdir(), 'unseen-browser-'));
    const program = process.env.CHROMIUM || 'chromium-headless-shell';
    const child = spawn(program, ['--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--no-first-run',
        '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${profile}`, ...options, 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    const waiting = new Map(), listeners = new Set();
    let next = 1, rest = '', ended = null;
    const exited = new Promise(resolve => child.on('exit', resolve));
    child.on('error', error => { ended = error; waiting.forEach(w => w.reject(error)); });
    child.on('exit', code => { ended = new Error(`the browser ended (${code})`); waiting.forEach(w => w.reject(ended)); });
    child.stdio[4].setEncoding('utf8').on('data', text => {
        const parts = (rest + text).split('\0');
        rest = parts.pop();
        for (const part of parts) {
            const message = JSON.parse(part), wait = waiting.get(message.id);
            if (!wait) {
                listeners.forEach(listener => listener(message));
                continue;
            }
            waiting.delete(message.id);
            if (message.error) {
                wait.reject(new Error(message.error.message));
            } else {
                wait.resolve(message.result);
            }
        }
    });
    let sessionId;
    const call = (method, params = {}) => new Promise((resolve, reject) => {
        if (ended) {
            reject(ended);
            return;
        }
        waiting.set(next, {resolve, reject});
        child.stdio[3].write(JSON.stringify({id: next++, method, params, sessionId}) + '\0');
    });
    const {targetInfos} = await call('Target.getTargets');
    const {targetId} = targetInfos.find(target => target.type === 'page');
    sessionId = (await call('Target.attachToTarget', {targetId, flatten: true})).sessionId;
    await call('Page.enable');
    await call('Runtime.enable');

    // The value of an expression in the page; a promise is awaited.
    const evaluate = async expression => {
        const {result, exceptionDetails} =
            await call('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
        if (exceptionDetails) {
            throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
        }
        return result.value;
    };
    // Waits until an expression is true.
    const until = async expression => {
        for (let i = 0; i < 3000; i++) {
            const value = await evaluate(expression);
            if (value) {
                return value;
            }
            await new Promise(resolve => { setTimeout(resolve, 20); });
        }
        throw new Error(`never true: ${expression}`);
    };
    const go = async url => {
        await call('Page.navigate', {url: 'about:blank'});
        await call('Page.navigate', {url});
        await until('document.readyState === "complete"');
    };
    const close = async () => {
        sessionId = undefined;
        call('Browser.close').catch(() => {}); // the program may be a shell script, which a signal would end alone
        await exited;
        rmSync(profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 100});
    };
    return {call, evaluate, until, go, close, listeners};
}

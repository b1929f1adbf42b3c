import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { DebuggerSession } from '../../../testing/debugger-session.ts';
import { isAlive } from '../../../testing/is-alive.ts';
import { failureOf, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';
import { Debugging, DebugRelay, type DebugState } from './debugging.ts';

let service: TestLambdaService;
let wake: () => void = () => {};
beforeAll(async () => {
  service = await TestLambdaService.start({ onDebug: () => wake() });
});
afterAll(() => service.stop());

/** Waits until the debugging of a lambda is as wanted. */
async function until(lambda: string, isWanted: (state: DebugState | undefined) => boolean) {
  while (!isWanted(service.lambdas.debugState(lambda))) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  return service.lambdas.debugState(lambda);
}
const listening = async (lambda: string) => {
  const state = await until(lambda, (now) => now?.url !== undefined);
  return { url: state?.url ?? '', file: state?.file ?? '' };
};

const CODE = `let calls = 0;
exports.run = (event) => {
  calls += 1; // here
  console.log('call ' + calls);
  return { pid: process.pid, calls, event };
};`;

describe('a lambda that is debugged', () => {
  it('stops at a breakpoint for longer than its timeout, and continues', async () => {
    const lambda = service.lambda(CODE, { timeout: 0.1 });
    service.lambdas.debug(lambda);
    const { url, file } = await listening(lambda);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const debuggerOf = await DebuggerSession.attach(url);
    await debuggerOf.breakAt(file, 2);
    const answer = service.invoke(lambda, '1');
    await debuggerOf.paused();
    // Another lambda with the same timeout, called later, has timed out.
    const hanging = service.lambda('exports.run = () => new Promise(() => {})', { timeout: 0.1 });
    expect(failureOf(await service.invoke(hanging))).toMatch(/^timeout/);
    await debuggerOf.close();
    const invocation = await answer;
    expect(JSON.parse(resultOf(invocation))).toMatchObject({ calls: 1, event: '1' });
    expect(invocation.logs.map(({ text }) => text)).toEqual(['call 1']);
    service.lambdas.endDebugging(lambda);
    expect(service.lambdas.debugState(lambda)).toBeUndefined();
  });

  it('stops at the first line of its handler when it is asked to, and nowhere without a debugger', async () => {
    const lambda = service.lambda(CODE, { timeout: 0.1 });
    service.lambdas.debug(lambda);
    const { url } = await listening(lambda);
    const stopping = () => service.invoke(lambda, '1', {}, { stopsFirst: true });
    expect(JSON.parse(resultOf(await stopping()))).toMatchObject({ calls: 1 });
    const debuggerOf = await DebuggerSession.attach(url);
    const answer = stopping();
    await debuggerOf.paused();
    await debuggerOf.close();
    expect(JSON.parse(resultOf(await answer))).toMatchObject({ calls: 2 });
    service.lambdas.endDebugging(lambda);
  });

  it('has one process for all its calls, which is gone with the debugging', async () => {
    const lambda = service.lambda(CODE, { isolate: true });
    service.lambdas.debug(lambda);
    await listening(lambda);
    const answers = await Promise.all([1, 2, 3].map(() => service.invoke(lambda)));
    const results = answers.map((answer) => JSON.parse(resultOf(answer)));
    expect(results.map(({ calls }) => calls)).toEqual([1, 2, 3]);
    service.lambdas.endDebugging(lambda);
    const after = JSON.parse(resultOf(await service.invoke(lambda)));
    expect(after.calls).toBe(1);
    expect(after.pid).not.toBe(results[0].pid);
    await expect.poll(() => isAlive(results[0].pid)).toBe(false);
  });

  it('is one of several, each with an address of its own, and of a few only', async () => {
    const [firstId, other] = [service.lambda(CODE), service.lambda(CODE)];
    service.lambdas.debug(firstId);
    service.lambdas.debug(other);
    const [first, second] = [await listening(firstId), await listening(other)];
    expect(new URL(first.url).port).not.toBe(new URL(second.url).port);
    service.lambdas.endDebugging(other);
    expect(service.lambdas.debugState(firstId)).toMatchObject({ url: first.url });
    service.remove(firstId);
    expect(service.lambdas.debugState(firstId)).toBeUndefined();

    const debugging = new Debugging(
      () => 0,
      () => {},
      { port: 0, idOf: (lambdaId) => lambdaId },
    );
    onTestFinished(() => debugging.stop());
    for (let count = 0; count < 10; count += 1) debugging.begin(`lambda ${count}`);
    debugging.begin('lambda 9');
    expect(() => debugging.begin('another')).toThrow('10 lambdas are being debugged');
  });

  it('keeps its address when its code is changed, also for a debugger that comes before the new process', async () => {
    const lambda = service.lambda(CODE);
    service.lambdas.debug(lambda);
    const { url, file } = await listening(lambda);
    const before = await DebuggerSession.attach(url);
    service.change(lambda, `${CODE} // new`);
    await before.closed;
    const debuggerOf = await DebuggerSession.attach(url);
    const after = await until(lambda, (state) => state?.file !== undefined && state.file !== file);
    expect(after?.url).toBe(url);
    await debuggerOf.breakAt(`${after?.file}`, 2);
    const answer = service.invoke(lambda);
    await debuggerOf.paused();
    await debuggerOf.close();
    expect(JSON.parse(resultOf(await answer))).toMatchObject({ calls: 1 });
    service.lambdas.endDebugging(lambda);
    await expect(DebuggerSession.attach(url)).rejects.toThrow('nothing listens');
  });

  it('takes the first free port from the configured one on', async () => {
    const otherServer = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void otherServer.close());
    await once(otherServer, 'listening');
    const { port } = otherServer.address() as AddressInfo;
    const relay = await DebugRelay.listen(port, 'id');
    onTestFinished(() => relay.close());
    const next = Number(new URL(relay.url).port);
    expect(next).toBeGreaterThan(port);
    expect(next).toBeLessThan(port + 20);
  });

  it('takes any free port if the configured ones end', async () => {
    const relay = await DebugRelay.listen(65_536, 'id');
    onTestFinished(() => relay.close());
    expect(Number(new URL(relay.url).port)).toBeGreaterThan(0);
  });

  it('refuses a page of the web that knows its address', async () => {
    const lambda = service.lambda(CODE);
    service.lambdas.debug(lambda);
    const { url } = await listening(lambda);
    const page = new WebSocket(url, { origin: 'https://page.example' });
    const [failure] = await once(page, 'error');
    expect(failure.message).toContain('404');
    service.lambdas.endDebugging(lambda);
  });

  it('does not publish the id that a debugger needs on its port', async () => {
    const lambda = service.lambda(CODE);
    service.lambdas.debug(lambda);
    const { url } = await listening(lambda);
    const { host, pathname } = new URL(url);
    for (const path of ['', '/json', '/json/list', '/json/version']) {
      const response = await fetch(`http://${host}${path}`);
      expect(await response.text()).not.toContain(pathname.slice(1));
    }
    await expect(DebuggerSession.attach(`ws://${host}/`)).rejects.toThrow();
    service.lambdas.endDebugging(lambda);
  });

  it('does not publish it on a port that a variable asks for either, nor do processes that it starts', async () => {
    const code = `const { execFile } = require('node:child_process');
exports.run = (event, context, callback) => {
  const look = "fetch('http://' + new URL(require('inspector').url()).host + '/json/list').then((one) => one.text()).then(console.log)";
  const looks = [eval(look.replace('.then(console.log)', ''))];
  looks.push(new Promise((resolve, reject) =>
    execFile(process.execPath, ['-e', look], (failure, out) => (failure ? reject(failure) : resolve(out)))));
  Promise.all(looks).then((texts) => callback(null, texts.join('')), callback);
};`;
    const lambda = service.lambda(code, { env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
    expect(resultOf(await service.invoke(lambda))).not.toContain('webSocketDebuggerUrl');
  });

  it('says why it has no process, and has one when the reason is gone', async () => {
    const lambda = service.lambda('exports.run = (');
    service.lambdas.debug(lambda);
    const broken = await until(lambda, (state) => state?.problem !== undefined);
    expect(broken).toMatchObject({ problem: expect.stringContaining('syntax error') });
    expect(broken).not.toHaveProperty('url');
    service.change(lambda, CODE);
    expect(await until(lambda, (state) => state?.url !== undefined)).not.toHaveProperty('problem');
    service.lambdas.endDebugging(lambda);
  });

  it('ends its call when debugging ends while it is at a breakpoint', async () => {
    const lambda = service.lambda(CODE);
    service.lambdas.debug(lambda);
    const { url, file } = await listening(lambda);
    const debuggerOf = await DebuggerSession.attach(url);
    await debuggerOf.breakAt(file, 2);
    const answer = service.invoke(lambda);
    await debuggerOf.paused();
    service.lambdas.endDebugging(lambda);
    expect(failureOf(await answer)).toBe('interrupted: debugging was stopped before the handler ended');
    await debuggerOf.close();
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ownerHere } from '../../../system/owner.ts';
import { isAlive } from '../../../testing/is-alive.ts';
import { failureOf, resultOf, TestLambdaService } from '../../../testing/lambda-service.ts';
import { INHERITANCE } from './protocol.ts';

let service: TestLambdaService | undefined;
const otherProcesses: ChildProcess[] = [];
afterEach(async () => {
  await service?.stop();
  service = undefined;
  for (const other of otherProcesses.splice(0)) other.kill('SIGKILL');
});

/** Ways to leave the process group of a lambda. Each answers with the number of what it has started. */
const WAYS = {
  detached: `
    const { spawn } = require('child_process');
    exports.run = () => {
      const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
      child.unref();
      return child.pid;
    };`,
  'a session of its own, by a shell in the background': `
    const { execSync } = require('child_process');
    exports.run = () => Number(execSync('nohup setsid sleep 600 >/dev/null 2>&1 & echo $!'));`,
  'a daemon that has forked twice': `
    const { spawnSync } = require('child_process');
    exports.run = () => Number(spawnSync('setsid', ['sh', '-c', '(setsid sleep 600 >/dev/null 2>&1 & echo $!)']).stdout);`,
  'a detached Node process of a Node process, with an environment of its own': `
    const { execFileSync } = require('child_process');
    const code = "const c = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], " +
      "{ detached: true, stdio: 'ignore', env: {} }); c.unref(); console.log(c.pid)";
    exports.run = () => Number(execFileSync(process.execPath, ['-e', code], { env: {} }));`,
  'a detached process with no environment': `
    const { spawn } = require('child_process');
    exports.run = () => {
      const child = spawn('env', ['-i', 'sleep', '600'], { detached: true, stdio: 'ignore' });
      child.unref();
      return child.pid;
    };`,
  'a worker thread': `
    const { Worker } = require('worker_threads');
    const code = "const c = require('child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }); " +
      "c.unref(); require('worker_threads').parentPort.postMessage(c.pid)";
    exports.run = () => new Promise((resolve) => new Worker(code, { eval: true }).on('message', resolve));`,
};

async function startedBy(code: string): Promise<{ pid: number; lambda: string; service: TestLambdaService }> {
  service = await TestLambdaService.start();
  const lambda = service.lambda(code);
  const pid = Number(resultOf(await service.invoke(lambda)));
  expect(isAlive(pid)).toBe(true);
  return { pid, lambda, service };
}

const waitUntilEnded = (pid: number) => vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000 });

/** A process that says of itself that it comes from a lambda. */
function marked(origin: unknown): number {
  const other = spawn('sleep', ['600'], { env: { [INHERITANCE]: JSON.stringify({ origin, routes: {} }) } });
  otherProcesses.push(other);
  return other.pid ?? 0;
}

describe('child processes of a lambda, also outside its process group', () => {
  it.each(Object.entries(WAYS))('ends with the process that started it: %s', async (_way, code) => {
    const { pid, lambda, service } = await startedBy(code);
    service.remove(lambda);
    await waitUntilEnded(pid);
  });

  it.each(['process.exit()', 'process.abort()', 'process.kill(process.pid, "SIGKILL")'])(
    'ends, without variables that show where it comes from, with a lambda that ends by %s',
    async (end) => {
      const { pid, lambda, service } = await startedBy(`
        const { spawn } = require('child_process');
        let child;
        exports.run = () => {
          if (child) ${end};
          child = spawn('env', ['-i', 'sleep', '600'], { detached: true, stdio: 'ignore' });
          child.unref();
          return child.pid;
        };`);
      expect(failureOf(await service.invoke(lambda))).toMatch(/^crash: /);
      await waitUntilEnded(pid);
    },
  );

  it('ends when other code applies to the lambda', async () => {
    const { pid, lambda, service } = await startedBy(WAYS.detached);
    service.change(lambda, 'exports.run = () => "other"');
    await service.invoke(lambda);
    await waitUntilEnded(pid);
  });

  it('ends before the platform has stopped', async () => {
    const { pid, service } = await startedBy(WAYS.detached);
    await service.lambdas.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('continues while its lambda exists, whatever other lambdas do', async () => {
    const { pid, lambda, service } = await startedBy(WAYS.detached);
    const other = service.lambda(WAYS.detached);
    const ofOther = Number(resultOf(await service.invoke(other)));
    service.remove(other);
    await waitUntilEnded(ofOther);
    expect(isAlive(pid)).toBe(true);
    expect(resultOf(await service.invoke(lambda))).toMatch(/^\d+$/);
  });

  it('adds nothing to the variables that a lambda sees', async () => {
    service = await TestLambdaService.start();
    const answer = await service.run('exports.run = () => Object.keys(process.env)');
    expect(resultOf(answer)).not.toContain(INHERITANCE);
  });
});

describe('leftovers of a killed platform', () => {
  it('ends at the next start, and nothing else does', async () => {
    const localOwner = await ownerHere(undefined);
    const origin = (owner: unknown) => ({ owner, platform: randomUUID(), process: 1 });
    const ended = spawn('true');
    await new Promise((resolve) => ended.once('exit', resolve));
    const spared = [
      marked(origin(localOwner)),
      marked(origin({ ...localOwner, pids: 'pid:[1]', pid: ended.pid })),
      marked(origin({ ...localOwner, boot: 'another', pid: ended.pid })),
      marked({ platform: 'something else' }),
      marked('{'),
    ];
    const orphanedPid = marked(origin({ ...localOwner, pid: ended.pid }));
    const ofReusedNumber = marked(origin({ ...localOwner, began: '1' }));
    service = await TestLambdaService.start();
    await Promise.all([waitUntilEnded(orphanedPid), waitUntilEnded(ofReusedNumber)]);
    expect(spared.every(isAlive)).toBe(true);
  });
});

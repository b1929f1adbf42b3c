import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../../testing/is-alive.ts';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/*
 * One lambda that does what its event says, and one well-behaved neighbour. After each misdeed both have to answer as if nothing
 * had happened.
 */
const OBEY = `
  const fs = require('fs'), child = require('child_process');
  const { exit } = process;
  exports.run = (event, context, callback) => eval(event);
`;

let service: TestLambdaService;
let rogue: string;
let neighbour: string;
beforeAll(async () => {
  service = await TestLambdaService.start();
  rogue = service.lambda(OBEY);
  neighbour = service.lambda('exports.run = (event) => event');
});
afterAll(() => service.stop());

const order = (source: string) => service.invoke(rogue, source);
/** Such a short time would be too short for a handler that has something to do. */
const orderBriefly = (source: string) => service.invoke(service.lambda(OBEY, { timeout: 0.3 }), source);

afterEach(async () => {
  for (let call = 0; call < 3; call += 1) expect(resultOf(await order('callback(null, 6 * 7)'))).toBe('42');
  expect(resultOf(await service.invoke(neighbour, 'still here'))).toBe('still here');
  expect(service.lambdas.stats()).toMatchObject({ running: 0, waiting: 0 });
});

describe('a lambda may end its process', () => {
  it('with process.exit', async () => {
    expect(failureOf(await order('exit(0)'))).toMatch(/^crash: .* exit code 0/);
  });

  it('with process.exit right after its answer, which counts', async () => {
    expect(resultOf(await order('callback(null, "bye"); setImmediate(() => exit(1))'))).toBe('bye');
    expect(resultOf(await order('callback(null, "bye"); exit(1)'))).toBe('bye');
  });

  it('with process.abort', async () => {
    expect(failureOf(await order('process.abort()'))).toMatch(/^crash: .* signal SIGABRT/);
  });

  it('with SIGKILL', async () => {
    expect(failureOf(await order('process.kill(process.pid, "SIGKILL")'))).toMatch(/^crash: .* signal SIGKILL/);
  });

  it('with an exception that is not caught, long after its answer', async () => {
    expect(resultOf(await order('setTimeout(() => { throw new Error("late") }, 20); callback(null, "ok")'))).toBe('ok');
    const log = () => service.lambdas.log(rogue, {}).join('\n');
    await expect.poll(log).toMatch(/between calls: uncaught exception: late/);
  });

  it('with a rejection that is not handled', async () => {
    expect(failureOf(await order('Promise.reject(new Error("lost"))'))).toBe('error: lost');
    expect(failureOf(await order('void Promise.reject(new Error("lost"))'))).toMatch(
      /^crash: unhandled rejection: lost/,
    );
  });
});

describe('a lambda may never answer', () => {
  it('because it loops for ever', async () => {
    expect(failureOf(await orderBriefly('for (;;);'))).toMatch(/^timeout: /);
  });

  it('because it forgets to', async () => {
    expect(failureOf(await orderBriefly('setInterval(() => {}, 20); void 0'))).toMatch(/^timeout: /);
  });

  it('because it handles every signal and exception', async () => {
    const source =
      'process.on("SIGTERM", () => {}); process.on("uncaughtException", () => {}); setInterval(() => { throw 1 }, 20); void 0';
    expect(failureOf(await orderBriefly(source))).toMatch(/^timeout: /);
  });

  it('because it stops its own process', async () => {
    expect(failureOf(await orderBriefly('process.kill(process.pid, "SIGSTOP"); void 0'))).toMatch(/^timeout: /);
  });
});

describe('a lambda may answer badly', () => {
  it('twice, and with an error after that', async () => {
    expect(resultOf(await order('callback(null, 1); callback(null, 2); callback(new Error("no"))'))).toBe('1');
  });

  it('again while the next call runs', async () => {
    expect(resultOf(await order('setTimeout(() => callback(null, "stale"), 30); callback(null, "first")'))).toBe(
      'first',
    );
    expect(resultOf(await order('setTimeout(() => callback(null, "second"), 60); void 0'))).toBe('second');
  });

  it('with more than it may', async () => {
    expect(failureOf(await order('callback(null, "x".repeat(50e6))'))).toMatch(/^too-large: /);
    expect(failureOf(await order('callback(null, [Buffer.alloc(6e6)])'))).toMatch(/^too-large: /);
  });

  it('with a value that breaks when it is looked at', async () => {
    expect(failureOf(await order('callback(null, { toJSON() { throw new Error("mine") } })'))).toMatch(
      /^invalid-result: .*mine/,
    );
    expect(failureOf(await order('throw { get message() { throw 1 } }'))).toBe(
      'error: an error that cannot be shown as text',
    );
  });
});

describe('a lambda may write', () => {
  it('a hundred thousand lines', async () => {
    const invocation = await order('for (let i = 0; i < 1e5; i += 1) console.log("line " + i); callback(null, "done")');
    expect(resultOf(invocation)).toBe('done');
    expect(invocation.logs.length).toBeLessThan(10_010);
    expect(invocation.logs[0]?.text).toBe('line 0');
    expect(invocation.logs.at(-1)?.text).toMatch(/output cut here/);
    expect(service.lambdas.log(rogue, { time: 'all' }).length).toBeLessThanOrEqual(10_000);
  });

  it('without end, synchronously', async () => {
    expect(
      failureOf(
        await orderBriefly('const chunk = Buffer.alloc(1e6, "x"); for (;;) try { fs.writeSync(1, chunk) } catch {}'),
      ),
    ).toMatch(/^timeout: /);
    expect(service.lambdas.log(rogue, { time: 'all' }).length).toBeLessThanOrEqual(10_000);
  });

  it('on and on after it has answered; then its process is ended', async () => {
    const source =
      'setInterval(() => { try { fs.writeSync(2, "x".repeat(60e3)) } catch {} }, 1); callback(null, process.pid)';
    const pid = Number(resultOf(await order(source)));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('to nowhere, because it closed its output', async () => {
    expect(resultOf(await order('process.stdout.end(); process.stderr.destroy(); callback(null, "quiet")'))).toBe(
      'quiet',
    );
    expect(
      resultOf(await order('fs.closeSync(1); fs.closeSync(2); console.log("lost"); callback(null, "quieter")')),
    ).toBe('quieter');
  });

  it('to the channel of the emulator', async () => {
    expect(failureOf(await order('fs.writeSync(3, "hello?\\n".repeat(3)); void 0'))).toMatch(
      /^crash: .* file descriptor 3/,
    );
  });

  it('forged frames to the channel of the emulator', async () => {
    const frame =
      'const f = Buffer.alloc(15); f.writeUInt32BE(0x54524d31); f[4] = 99; f.writeUInt32BE(2, 5); f.write("{}", 13); fs.writeSync(3, f); void 0';
    expect(failureOf(await order(frame))).toMatch(/^crash: .* frame type 99 is unknown/);
    const endless = 'const f = Buffer.alloc(13, 255); f.writeUInt32BE(0x54524d31); fs.writeSync(3, f); void 0';
    expect(failureOf(await order(endless))).toMatch(/^crash: .* too long/);
  });

  it('nothing more to the channel of the emulator, because it closed it', async () => {
    expect(
      failureOf(
        await order(
          'require("net").Socket.prototype.destroy.call(process._getActiveHandles().find((h) => h.fd === 3 || h._handle?.fd === 3)); void 0',
        ),
      ),
    ).toMatch(/^crash: /);
  });

  it('to a parent that does not listen', async () => {
    expect(resultOf(await order('callback(null, typeof process.send)'))).toBe('undefined');
  });
});

describe('a lambda may change the world of its process', () => {
  it('by replacing what everybody relies on', async () => {
    const source = `
      globalThis.JSON = { parse() { throw 1 }, stringify: () => "forged" };
      globalThis.Promise = class {};
      globalThis.console = undefined;
      globalThis.setImmediate = globalThis.setTimeout = () => {};
      globalThis.Buffer = undefined;
      process.exit = () => {};
      process.kill = () => {};
      process.stdout.write = () => { throw 1 };
      callback(null, { still: "right" })`;
    const id = service.lambda(OBEY);
    expect(resultOf(await service.invoke(id, source))).toBe('{"still":"right"}');
    expect(resultOf(await service.invoke(id, 'callback(null, "again")'))).toBe('again');
  });

  it('by leaving its folder, its environment and its title', async () => {
    const source =
      'process.chdir("/"); for (const n in process.env) delete process.env[n]; process.title = "sshd"; callback(null, "ok")';
    expect(resultOf(await order(source))).toBe('ok');
  });
});

describe('a lambda can use all of its memory', () => {
  it('memory', async () => {
    const id = service.lambda(OBEY, { memory: 40 });
    expect(failureOf(await service.invoke(id, 'const all = []; for (;;) all.push({ all: [...all] })'))).toMatch(
      /^crash: .* memory at 40 MB/,
    );
  });

  it('processes: its child processes end with it', async () => {
    const source = 'const c = child.spawn("sleep", ["600"], { stdio: "inherit" }); console.log(c.pid); void 0';
    const invocation = await service.invoke(service.lambda(OBEY, { timeout: 3 }), source);
    expect(failureOf(invocation)).toMatch(/^timeout: /);
    await expect.poll(() => isAlive(Number(invocation.logs[0]?.text))).toBe(false);
  });

  it('many processes', async () => {
    const script =
      'const c = require("child_process"); if (process.argv[1] > 0) for (let i = 0; i < 2; i++) c.spawn(process.execPath, ["-e", process.env.S, process.argv[1] - 1], { stdio: "inherit", env: process.env }); console.log(process.pid); setTimeout(() => {}, 600e3)';
    // Exits when the first process and the two below it have printed their numbers.
    const source = `
      process.env.S = ${JSON.stringify(script)};
      let seen = 0;
      const first = child.spawn(process.execPath, ["-e", process.env.S, "2"], { env: process.env });
      first.stdout.on("data", (text) => {
        for (const pid of String(text).trim().split("\\n")) console.log(pid) || (seen += 1);
        if (seen >= 3) exit();
      });
      void 0`;
    const invocation = await order(source);
    expect(failureOf(invocation)).toMatch(/^crash: .* exit code/);
    const pids = invocation.logs.map(({ text }) => Number(text)).filter((pid) => pid > 0);
    expect(pids.length).toBeGreaterThan(2);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});

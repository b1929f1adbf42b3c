'use strict';
// The library's side in the test suite. The platform runs in another thread (run-platform.mjs): no replaced timer, stubbed fetch or
// document of the tests reaches it, and it responds while the tests block. Here, each call becomes a message.
const { writeSync } = require('node:fs');
const { join } = require('node:path');
const { MessageChannel, receiveMessageOnPort, SHARE_ENV, Worker } = require('node:worker_threads');

const PROGRAM = join(__dirname, 'run-platform.mjs');
/** Time that a call may take for which the tests' thread waits. */
const BLOCKING_CALL_MS = 10_000;
const STOPPED = { message: 'this platform was stopped. Start a new one.', properties: { code: 'STOPPED' } };
const LATE = {
  message: `the platform did not respond within ${BLOCKING_CALL_MS / 1000} s. Try again.`,
  properties: { code: 'TIMEOUT' },
};

/** Threads whose platforms were not stopped. */
const running = new Set();

exports.startEmulator = async (options = {}, hooks = {}) => new PlatformThread(options, hooks).start();

class PlatformThread {
  #hooks;
  #worker;
  #calls = new Map();
  #callCount = 0;
  #ended;
  #stopping;
  /** Why there is no platform any more. */
  #failure;
  /** For the calls that return a value instead of a promise. */
  #blocking = new MessageChannel();
  #isAnswered = new Int32Array(new SharedArrayBuffer(4));

  constructor(options, hooks) {
    this.#hooks = hooks;
    const hookNames = Object.keys(hooks).filter((name) => typeof hooks[name] === 'function');
    const workerData = { options, hookNames, blocking: this.#blocking.port2, isAnswered: this.#isAnswered };
    try {
      this.#worker = new Worker(PROGRAM, {
        workerData,
        transferList: [this.#blocking.port2],
        env: SHARE_ENV,
        execArgv: [],
      });
    } catch (cause) {
      throw errorOf({ message: `an option is not plain data: ${cause.message}`, properties: { code: 'SETTING' } });
    }
    this.#worker.on('message', (message) => this.#receive(message));
    this.#worker.on('error', ({ message }) =>
      this.#fail({ message: `the platform failed: ${message}. Start a new one.`, properties: { code: 'STOPPED' } }),
    );
    this.#ended = new Promise((resolve) => this.#worker.once('exit', resolve)).then(() => this.#fail(STOPPED));
  }

  async start() {
    const { facts, functions } = await this.#call('start', []);
    if (running.size === 0) process.once('exit', reportRunning);
    running.add(this);
    const platform = facts;
    for (const path of functions) {
      const [name, group] = path.split('.').reverse();
      if (group !== undefined) platform[group] ??= {};
      const owner = group === undefined ? platform : platform[group];
      owner[name] = (...args) => this.#call(path, args);
    }
    platform.windowUrl = () => this.#callBlocking('windowUrl', []);
    const { stop } = platform;
    platform.stop = () => {
      this.#stopping ??= this.#failure ? this.#ended : stop().then(() => this.#ended);
      return this.#stopping;
    };
    platform[Symbol.asyncDispose] = platform.stop;
    return platform;
  }

  #call(path, args) {
    return new Promise((resolve, reject) => {
      if (this.#failure) throw errorOf(this.#failure);
      this.#callCount += 1;
      try {
        this.#worker.postMessage({ id: this.#callCount, path, args: args.map(jsonValueOf) });
      } catch (cause) {
        throw errorOf({
          message: `${path}: an argument is not plain data: ${cause.message}`,
          properties: { code: 'REFUSED' },
        });
      }
      const origin = new Error();
      this.#calls.set(this.#callCount, { resolve, reject: (error) => reject(errorOf(error, origin)) });
      // A call keeps the process running, and a platform without calls does not.
      this.#worker.ref();
    });
  }

  #callBlocking(path, args) {
    if (this.#failure) throw errorOf(this.#failure);
    Atomics.store(this.#isAnswered, 0, 0);
    this.#blocking.port1.postMessage({ path, args });
    Atomics.wait(this.#isAnswered, 0, 0, BLOCKING_CALL_MS);
    const { error, value } = receiveMessageOnPort(this.#blocking.port1)?.message ?? { error: LATE };
    if (error) throw errorOf(error);
    return value;
  }

  #receive({ hook, id, error, value }) {
    if (hook) return this.#hooks[hook](value);
    const { resolve, reject } = this.#calls.get(id) ?? {};
    this.#calls.delete(id);
    if (this.#calls.size === 0 && !this.#stopping) this.#worker.unref();
    return error ? reject?.(error) : resolve?.(value);
  }

  #fail(error) {
    this.#failure ??= error;
    running.delete(this);
    if (running.size === 0) process.off('exit', reportRunning);
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }
}

/** The value as JSON has it, such as the text of a URL or a decimal number: a message would lose the class of an object. */
function jsonValueOf(value) {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value, (_, member) => {
    if (typeof member === 'function') throw new Error('it contains a function');
    return member;
  });
  if (text === undefined) throw new Error('JSON has no value for it');
  return JSON.parse(text);
}

/**
 * An error of this realm, so that `instanceof Error` is true in a test runner's sandbox.
 *
 * @param origin made at the call, so that a test runner shows the line of the test
 */
function errorOf({ message, properties }, origin = new Error()) {
  const error = Object.assign(new Error(message), properties);
  error.stack = `${origin.stack}`.replace(/^Error(: )?/, () => `Error: ${message}`);
  return error;
}

function reportRunning() {
  writeSync(
    2,
    'terrarium: a platform was still running when its process ended. Call its stop() when the tests are done.\n',
  );
}

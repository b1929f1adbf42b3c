import { expect, it } from 'vitest';
import { acceptsCallback } from './accepts-callback.ts';
import * as parser from './declares-callback.ts';

/** As a lambda writes it, not as the tools of this test compile it. */
const functionOf = (source: string): ((...args: never[]) => unknown) => new Function(`return ${source}`)();

it.each([
  '(event, context, callback) => {}',
  '(event, context, callback = () => {}) => {}',
  '(event = "{}", context, callback) => {}',
  'async (event, context = {}, callback) => {}',
  '(event, context, { done } = {}) => {}',
  '(event, [a, b] = [], [callback] = []) => {}',
  '(event, context, ...rest) => {}',
  '(event, ...rest) => {}',
  '(...args) => {}',
  'function () { arguments[2](null, 1) }',
  'function (event) { const later = () => arguments[2](null, 1); later() }',
  'function (event, context, callback = arguments[2]) {}',
  'function ({ a = arguments[2] }) {}',
  'async function* named(/* one */ event, context /* two */, callback /* three */ = null) {}',
  '({ run(event, context, callback = null) {} }).run',
  '({ async *["a b"](...args) {} })["a b"]',
  '({ get run() { return (...args) => args[2](null, 1) } }).run',
  '(new (class { async run(event, context, callback = null) {} })()).run',
  '(class { static async run(event, ...rest) {} }).run',
  'new (class { #hidden(event, ...rest) {} get run() { return this.#hidden } })().run',
  '((event, context) => {}).bind(null)',
  'Array.prototype.push',
  'new Proxy((event) => {}, {})',
  'new Proxy((event) => {}, { get() { throw 1 } })',
  `(${Array.from({ length: 300 }, (_, n) => `a${n}`).join(', ')}) => {}`,
  `(a = 0, ${Array.from({ length: 300 }, (_, n) => `a${n}`).join(', ')}) => {}`,
])('%s can call back', (source) => {
  expect(acceptsCallback(functionOf(source), () => parser)).toBe(true);
});

it.each([
  '() => {}',
  'event => event',
  'async event => event',
  'async (event, context) => {}',
  '(event, context = {}) => {}',
  '({ payload }, [first, ...others] = []) => {}',
  'function (event, context) { return 1 }',
  'function (event) { return (function () { return arguments.length })() }',
  '(event) => ({ arguments: 1 }).arguments',
  '(event) => "arguments"',
  '(event /* , context, callback */) => {} // arguments',
  '({ run(event, context) {} }).run',
  '({ async "a, b, c"(event = ")") {} })["a, b, c"]',
  '(new (class { run(event = "{}") { return super.toString() } })()).run',
])('%s cannot call back', (source) => {
  expect(acceptsCallback(functionOf(source), () => parser)).toBe(false);
});

it('a source is read as it was written, whatever the lambda makes of Function.prototype.toString', () => {
  const original = Function.prototype.toString;
  try {
    Function.prototype.toString = () => '() => {}';
    expect(acceptsCallback(functionOf('(...args) => {}'), () => parser)).toBe(true);
  } finally {
    Function.prototype.toString = original;
  }
});

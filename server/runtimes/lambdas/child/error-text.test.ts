import { describe, expect, it } from 'vitest';
import { messageOf, traceOf } from './error-text.ts';

const failure = (message: string, options?: ErrorOptions): Error =>
  Object.assign(new Error(message, options), { stack: `Error: ${message}\n    at code` });

describe('the message of an error about a module that was not found', () => {
  const messageAbout = (name: string) =>
    messageOf(Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' }));

  it.each(['lodash/fp', '@acme/shared/part'])('names the package to install for %s', (name) => {
    expect(messageAbout(name)).toContain(`'npm install ${name.replace(/\/[a-z]+$/, '')}'`);
  });

  it.each(['@/util', '~/util', '~'])(
    'names the paths of tsconfig.json for the alias %s, which is no package',
    (name) => {
      expect(messageAbout(name)).toContain('tsconfig.json');
      expect(messageAbout(name)).not.toContain('npm install');
    },
  );
});

describe('the trace of an error', () => {
  it('contains its causes, in which fetch says why it failed', () => {
    const cause = failure('fetch failed', { cause: failure('connect ECONNREFUSED', { cause: 'the host is down' }) });
    expect(traceOf(failure('no lead', { cause }))).toBe(
      [
        'Error: no lead\n    at code',
        'Caused by: Error: fetch failed\n    at code',
        'Caused by: Error: connect ECONNREFUSED\n    at code',
        'Caused by: the host is down',
      ].join('\n'),
    );
  });

  it('contains the errors of an AggregateError', () => {
    const several = Object.assign(new AggregateError([failure('one'), failure('two')]), { stack: 'AggregateError' });
    expect(traceOf(several)).toBe(
      'AggregateError\nCaused by: Error: one\n    at code\nCaused by: Error: two\n    at code',
    );
    expect(messageOf(several)).toBe('one; two');
  });

  it('repeats no cause that it has, and ends in a circle', () => {
    const cause = failure('inner');
    const outer = Object.assign(new Error('outer', { cause }), { stack: `Error: outer\nCaused by: ${cause.stack}` });
    expect(traceOf(outer)).toBe(outer.stack);
    const circle = failure('round');
    circle.cause = circle;
    expect(traceOf(circle)).toBe(circle.stack);
  });
});

import { describe, expect, it } from 'vitest';
import { notSaved } from '../storage/files/append-file.ts';
import { describeFailure } from './describe-failure.ts';
import { installLine } from './doctor-checks.ts';
import { needsPlainAddress } from './show-window.ts';
import { commandLine } from './start-command.ts';

describe('a port that cannot be listened on', () => {
  const refused = Object.assign(new Error('listen EACCES'), {
    code: 'EACCES',
    syscall: 'listen',
    address: '127.0.0.1',
    port: 5000,
  });
  it.each([
    ['linux', 'port 5000 on 127.0.0.1 requires more permissions than your account has: choose a port above 1023'],
    ['win32', 'port 5000 on 127.0.0.1 is reserved by Windows: choose another port.'],
  ] as const)('is explained as on %s', (system, expected) => {
    const { text, exitCode } = describeFailure(refused, system);
    expect(text).toContain(expected);
    expect(exitCode).toBe(2);
  });
});

it.each([
  ['linux', 'TMPDIR'],
  ['win32', 'TEMP'],
] as const)('a missing folder for temporary files is explained as on %s', (system, variable) => {
  const refused = Object.assign(new Error("ENOENT: no such file or directory, mkdtemp '/none/terrarium-x-XXXXXX'"), {
    code: 'ENOENT',
    syscall: 'mkdtemp',
    path: '/none/terrarium-x-XXXXXX',
  });
  expect(describeFailure(refused, system)).toEqual({
    text: `no temporary folder can be created (${refused.message}): set the variable ${variable} to a folder that you can write to`,
    exitCode: 2,
  });
});

it.each([
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' }),
  notSaved('The change', 'journal.jsonl', Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' })),
])('a disk that is full at the start is explained, and is not reported as a bug: $name', (failure) => {
  const { text, exitCode } = describeFailure(failure);
  expect(text).toMatch(/disk is full.*free some space/i);
  expect(text).not.toMatch(/bug|\n/);
  expect(exitCode).toBe(2);
});

it.each([
  ['git', 'linux', 'sudo apt-get install git (or your package manager)'],
  ['git', 'darwin', 'brew install git'],
  ['git', 'win32', 'pipelines run in WSL; there, run `sudo apt-get install git`'],
  ['docker', 'darwin', 'install Docker Desktop, OrbStack or Colima'],
  ['docker', 'win32', 'install Docker Desktop'],
] as const)('doctor says how to install %s on %s', (name, system, expected) => {
  expect(installLine(name, name, system)).toBe(expected);
});

it.each([
  ['darwin', false, true],
  ['darwin', true, false],
  ['linux', false, false],
  ['win32', false, false],
] as const)(
  'the default browser on %s, where the name of the window can be resolved: %s, gets the plain address: %s',
  async (system, isKnown, expected) => {
    const resolve = () => (isKnown ? Promise.resolve() : Promise.reject(new Error('ENOTFOUND')));
    expect(await needsPlainAddress(system, resolve)).toBe(expected);
  },
);

it.each([
  ['linux', `  curl -u key:a -H 'A: b' -d '{"a":"it'\\''s"}' http://x/`],
  // In PowerShell, `curl` is an alias of another command.
  ['win32', `  '{"a":"it''s"}' | curl.exe -u key:a -H 'A: b' -d '@-' http://x/`],
] as const)('the greeting shows a command for the usual shell of %s', (system, expected) => {
  const args = ['curl', '-u', 'key:a', '-H', 'A: b', '-d', `{"a":"it's"}`, 'http://x/'];
  expect(commandLine(args, system)).toBe(expected);
});

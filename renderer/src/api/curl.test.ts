import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlOf } from './curl.ts';

it('is a command that a shell takes apart into the request again', () => {
  const command = curlOf(
    {
      method: 'POST',
      target: '/web/lead?a=1&b=$HOME',
      request: {
        headers: [
          ['Host', 'localhost'],
          ['Content-Type', 'application/json'],
          ['accept', '*/*'],
          ['accept-language', '*'],
          ['user-agent', 'node'],
          ['Authorization', 'Basic <hidden>'],
          ['X-Odd', `it's "so" $(so)`],
        ],
        body: { sizeBytes: 9, text: `{"it's": "\`x\`"}\n` },
      },
    },
    'http://localhost:1/',
  );
  const printedArgs = execFileSync('sh', ['-c', `${command.replace('curl', 'printf "%s\\0"')}`]).toString();
  expect(printedArgs.split('\0').slice(0, -1)).toEqual([
    '-X',
    'POST',
    'http://localhost:1/web/lead?a=1&b=$HOME',
    '-H',
    'Content-Type: application/json',
    '-H',
    'Authorization: Basic FILL-IN',
    '-H',
    `X-Odd: it's "so" $(so)`,
    '--data-raw',
    `{"it's": "\`x\`"}\n`,
  ]);
});

it('leaves out a body that was kept in part only', () => {
  const request = { headers: [], body: { sizeBytes: 9, text: 'x', isCut: true } };
  expect(curlOf({ method: 'GET', target: '/a', request }, 'http://h')).toBe('curl http://h/a');
});

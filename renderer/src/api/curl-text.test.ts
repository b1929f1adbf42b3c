import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { curlText } from './curl.ts';

it('is a command that a shell parses to the sent request', () => {
  const body = fc
    .dictionary(fc.string({ minLength: 1 }), fc.string())
    .filter((dictionary) => !JSON.stringify(dictionary).includes('\0'));
  fc.assert(
    fc.property(body, (requestBody) => {
      const command = curlText(
        { method: 'POST', path: '/meta/root/users', query: { a: "it's", b: undefined }, body: requestBody },
        'http://h',
      );
      const printed = execFileSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\037'`)], {
        encoding: 'utf8',
        env: { PLATFORM_API_KEY: 'k', PLATFORM_API_SECRET: 's' },
      });
      const args = printed.split('\u001f');
      expect(args.slice(0, 7)).toEqual([
        '-X',
        'POST',
        'http://h/meta/root/users?a=it%27s',
        '-u',
        'k:s',
        '-H',
        'Content-Type: application/json',
      ]);
      expect(args.slice(7).join('\u001f')).toBe(`--data-raw\u001f${JSON.stringify(requestBody, null, 2)}\u001f`);
    }),
    { numRuns: 20 },
  );
});

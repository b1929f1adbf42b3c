import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { curlText } from './curl.ts';

it('is a command that a shell parses to the sent request', () => {
  const body = fc
    .dictionary(fc.string({ minLength: 1 }), fc.string())
    .filter((one) => !JSON.stringify(one).includes('\0'));
  fc.assert(
    fc.property(body, (sent) => {
      const command = curlText(
        { method: 'POST', path: '/meta/root/users', query: { a: "it's", b: undefined }, body: sent },
        'http://h',
      );
      const printed = execFileSync('sh', ['-c', command.replace(/^curl/, `printf '%s\\037'`)], {
        encoding: 'utf8',
        env: { PLATFORM_API_KEY: 'k', PLATFORM_API_SECRET: 's' },
      });
      const words = printed.split('\u001f');
      expect(words.slice(0, 7)).toEqual([
        '-X',
        'POST',
        'http://h/meta/root/users?a=it%27s',
        '-u',
        'k:s',
        '-H',
        'Content-Type: application/json',
      ]);
      expect(words.slice(7).join('\u001f')).toBe(`--data-raw\u001f${JSON.stringify(sent, null, 2)}\u001f`);
    }),
    { numRuns: 20 },
  );
});

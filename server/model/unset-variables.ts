import { elementsOf, memberOf } from './json.ts';

const PROVIDED_VARIABLES = new Set([
  'META_URL',
  'SECURITY_URL',
  'GATEWAY_URL',
  'PATH',
  'TZ',
  'LANG',
  'HOME',
  'TMPDIR',
  'NODE_ENV',
]);

const COMMENT = /\/\*[\s\S]*?(?:\*\/|(?![\s\S]))|(?<=^|[\s;{}(,])\/\/.*$/gm;
/** `process.env.NAME` or `process.env['NAME']`, except for assignments and reads with a default. */
const READ = /\bprocess\.env(?:\.([A-Za-z_]\w*)(?!\w)|\[\s*(['"])([\w.-]+)\2\s*\])(?!\s*(?:\|\||\?\?|=(?!=)))/g;
const UNPACKED = /\{([^{}]*)\}\s*=\s*process\.env\b(?!\s*[.[])/g;

/** The variables that the code of a lambda reads without a default and that neither `set` nor its secrets have, in order. */
export function unsetVariables(source: string, properties: unknown, set: Iterable<string>): string[] {
  const isSet = new Set([...PROVIDED_VARIABLES, ...set, ...mountedIn(properties)]);
  return [...readIn(source.replace(COMMENT, ' '))].filter((name) => !isSet.has(name));
}

function readIn(code: string): Set<string> {
  const direct = [...code.matchAll(READ)].map(([, plain, , quoted]) => plain ?? quoted ?? '');
  const unpacked = [...code.matchAll(UNPACKED)].flatMap(([, names = '']) =>
    names
      .split(',')
      .filter((part) => !part.includes('=') && !part.includes('...'))
      .map((part) => part.split(':', 1)[0]?.trim() ?? ''),
  );
  return new Set([...direct, ...unpacked].filter((name) => name !== ''));
}

function mountedIn(properties: unknown): string[] {
  return elementsOf(memberOf(properties, 'secrets')).flatMap((secret) => {
    const path = memberOf(secret, 'path');
    return memberOf(secret, 'mount_type') === 'env' && typeof path === 'string' ? [path] : [];
  });
}

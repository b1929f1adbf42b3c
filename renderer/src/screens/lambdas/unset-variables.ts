import type { PlatformRecord } from '../../api/world.ts';
import { variablesOf } from './environment.ts';

/** What every lambda has (D-113). */
const GIVEN = new Set(['META_URL', 'SECURITY_URL', 'GATEWAY_URL', 'PATH', 'TZ', 'LANG', 'HOME', 'TMPDIR', 'NODE_ENV']);

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(,])\/\/.*$/gm;
/** `process.env.NAME` or `process.env['NAME']`, unless it is given a value or has another one in reserve. */
const READ = /\bprocess\.env(?:\.([A-Za-z_]\w*)(?!\w)|\[\s*(['"])([\w.-]+)\2\s*\])(?!\s*(?:\|\||\?\?|=(?!=)))/g;
/** `const { A, B: b } = process.env` */
const UNPACKED = /\{([^{}]*)\}\s*=\s*process\.env\b(?!\s*[.[])/g;

/**
 * The variables that code reads and that nobody sets, in the order in which it reads them.
 *
 * @param lineage the lambda, then what it is below, root last
 */
export function unsetVariablesIn(source: string, lineage: readonly PlatformRecord[]): string[] {
  const isSet = new Set([...GIVEN, ...variablesOf(lineage).map(({ name }) => name), ...mountedIn(lineage[0])]);
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

/** Names that secrets give their values to. */
function mountedIn(lambda: PlatformRecord | undefined): string[] {
  const { secrets } = lambda?.properties ?? {};
  if (!Array.isArray(secrets)) return [];
  return secrets.flatMap((one: { mount_type?: unknown; path?: unknown }) =>
    one?.mount_type === 'env' && typeof one.path === 'string' ? [one.path] : [],
  );
}

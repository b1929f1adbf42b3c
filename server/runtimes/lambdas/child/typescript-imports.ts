import { existsSync, readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

type Resolve = (request: string, parent?: { filename?: string | null }, ...more: unknown[]) => string;

interface Mapping {
  paths?: Record<string, string[]>;
  /** Folder of the file with `paths`. */
  pathsFolder?: string;
  baseUrl?: string;
}

/** Lets imports in TypeScript find what they find for its compiler: `./part.js` is part.ts, and `paths` of tsconfig.json apply. */
export function acceptTypeScriptImports(): void {
  // As: Node's types leave it out. Tools that change how modules are found rely on it.
  const loader = Module as unknown as { _resolveFilename: Resolve };
  const { _resolveFilename: resolveFilename } = loader;
  loader._resolveFilename = (request, parent, ...more) => {
    try {
      return resolveFilename(request, parent, ...more);
    } catch (thrown) {
      for (const candidate of candidatesFor(request, parent?.filename ?? '')) {
        try {
          return resolveFilename(candidate, parent, ...more);
        } catch {
          // The next one may exist.
        }
      }
      throw thrown;
    }
  };
}

function candidatesFor(request: string, importer: string): string[] {
  if (!/\.[cm]?ts$/.test(importer)) return [];
  const targets = request.startsWith('.') ? [request] : [...mappedBy(mappingFor(dirname(importer)), request)];
  return targets.flatMap((target) => [target, target.replace(/\.([cm]?)jsx?$/, '.$1ts')]);
}

function* mappedBy({ paths = {}, pathsFolder = '', baseUrl }: Mapping, request: string): Generator<string> {
  const patterns = Object.entries(paths).sort(([a], [b]) => b.length - a.length);
  for (const [pattern, targets] of patterns) {
    const [prefix = '', suffix] = pattern.split('*');
    const isMatch = suffix === undefined ? request === pattern : request.startsWith(prefix) && request.endsWith(suffix);
    if (!isMatch) continue;
    const rest = request.slice(prefix.length, request.length - (suffix?.length ?? 0));
    for (const target of [targets].flat()) {
      yield resolve(
        baseUrl ?? pathsFolder,
        String(target).replace('*', () => rest),
      );
    }
  }
  if (baseUrl !== undefined) yield join(baseUrl, request);
}

/** The mapping of the nearest tsconfig.json; empty if there is none, or it cannot be read. */
function mappingFor(folder: string): Mapping {
  const file = join(folder, 'tsconfig.json');
  if (existsSync(file)) return readMapping(file);
  return dirname(folder) === folder ? {} : mappingFor(dirname(folder));
}

function readMapping(file: string): Mapping {
  try {
    const { extends: bases = [], compilerOptions = {} } = JSON.parse(withoutComments(readFileSync(file, 'utf8')));
    const { paths, baseUrl } = compilerOptions;
    const inherited = [bases].flat().map((name) => readBase(file, String(name)));
    return Object.assign(
      {},
      ...inherited,
      paths && { paths, pathsFolder: dirname(file) },
      baseUrl !== undefined && { baseUrl: resolve(dirname(file), baseUrl) },
    );
  } catch {
    return {};
  }
}

/** @param name of a file, or of a package with a tsconfig.json */
function readBase(file: string, name: string): Mapping {
  const { resolve: resolveFrom } = createRequire(file);
  for (const candidate of [`${name}/tsconfig.json`, name]) {
    try {
      return readMapping(resolveFrom(candidate));
    } catch {
      // The other may exist; the compiler reports a base that does not.
    }
  }
  return {};
}

/** The JSON in a configuration, which can have comments and trailing commas. */
function withoutComments(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, '$1')
    .replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1');
}

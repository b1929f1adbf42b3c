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

/** Mappings by the folder of importing files. */
const mappings = new Map<string, Mapping>();

/** Lets imports in TypeScript find what they find for its compiler: `./part.js` is part.ts, and `paths` of tsconfig.json apply. */
export function acceptTypeScriptImports(): void {
  // As: Node's types leave it out. Tools that change how modules are found rely on it.
  const loader = Module as unknown as { _resolveFilename: Resolve };
  const { _resolveFilename: resolveFilename } = loader;
  loader._resolveFilename = (request, parent, ...more) => {
    for (const candidate of candidatesFor(request, parent?.filename ?? '')) {
      try {
        const file = resolveFilename(candidate, parent, ...more);
        // The compiler finds these by their whole name only, so that firebase.json does not take the place of a package.
        if (candidate.endsWith('.json') || !/\.(json|node)$/.test(file)) return file;
      } catch {
        // The next one may exist.
      }
    }
    return resolveFilename(request, parent, ...more);
  };
}

/** Paths to try before the request itself: like the compiler, an import prefers `paths` to packages, and part.ts to part.js beside it. */
function candidatesFor(request: string, importer: string): string[] {
  if (!/\.[cm]?ts$/.test(importer) || Module.isBuiltin(request)) return [];
  const targets = request.startsWith('.') ? [request] : [...mappedBy(mappingFor(dirname(importer)), request)];
  return targets.flatMap((target) => {
    const source = target.replace(/\.([cm]?)jsx?$/, '.$1ts');
    return source === target ? [`${target}.ts`, `${target}/index.ts`, target] : [source, target];
  });
}

function* mappedBy({ paths = {}, pathsFolder = '', baseUrl }: Mapping, request: string): Generator<string> {
  // An exact name comes first, then the pattern with the longest text before the star.
  const prefixLength = (pattern: string) => (pattern.includes('*') ? pattern.indexOf('*') : Number.MAX_SAFE_INTEGER);
  const patterns = Object.entries(paths).sort(([a], [b]) => prefixLength(b) - prefixLength(a));
  for (const [pattern, targets] of patterns) {
    const [prefix = '', suffix] = pattern.split('*');
    const isMatch = suffix === undefined ? request === pattern : request.startsWith(prefix) && request.endsWith(suffix);
    if (!isMatch) continue;
    const rest = request.slice(prefix.length, request.length - (suffix?.length ?? 0));
    for (const target of [targets].flat()) {
      // It has no code.
      if (/\.d\.[cm]?ts$/.test(String(target))) continue;
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
  const knownMapping = mappings.get(folder);
  if (knownMapping) return knownMapping;
  const file = join(folder, 'tsconfig.json');
  const above = dirname(folder);
  const mapping = existsSync(file) ? readMapping(file, folder) : above === folder ? {} : mappingFor(above);
  mappings.set(folder, mapping);
  return mapping;
}

/** @param configFolder folder of the tsconfig.json that extends the others: `${configDir}` */
function readMapping(file: string, configFolder: string): Mapping {
  try {
    const { extends: bases = [], compilerOptions = {} } = JSON.parse(
      withoutComments(readFileSync(file, 'utf8')),
      (_, value) => (typeof value === 'string' ? value.replace(/^\$\{configDir\}/i, () => configFolder) : value),
    );
    const { paths, baseUrl } = compilerOptions;
    const inherited = [bases].flat().map((name) => readBase(file, String(name), configFolder));
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
function readBase(file: string, name: string, configFolder: string): Mapping {
  const { resolve: resolveFrom } = createRequire(file);
  for (const candidate of [`${name}/tsconfig.json`, name]) {
    try {
      return readMapping(resolveFrom(candidate), configFolder);
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

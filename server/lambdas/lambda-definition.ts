import { createHash } from 'node:crypto';
import { z } from 'zod';
import { decodeSource, decodeText } from '../model/base64-text.ts';
import { mergedEnv } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { LAMBDA } from '../model/types/lambda.ts';
import type { WorldView } from '../model/world-view.ts';

/** Where a lambda's code comes from. */
export type CodeSource =
  | { kind: 'inline'; text: string }
  /** `isZip` undefined: look at the bytes. `edition`: how often it was told to be fetched again. */
  | { kind: 'package'; url: string; isZip: boolean | undefined; edition: number };

/** All that running a lambda needs to know of it, effective defaults filled in (D-056). */
export interface LambdaDefinition {
  id: Uuid;
  name: string;
  runtime: string;
  code: CodeSource;
  handler: string;
  memoryMb: number;
  timeoutMs: number;
  /** Merged variables and secrets of mount type env (D-111), without what the emulator adds. */
  env: Record<string, string>;
  /** Secrets of mount type file: path to content. */
  secretFiles: Record<string, string>;
  isIsolated: boolean;
  /** Does it run in one process that a debugger can attach to, and for as long as it takes? */
  isDebugged: boolean;
  /** Processes kept ready. */
  preWarm: number;
  /** Content type of answers (D-137). */
  accept: string | undefined;
  /** Differs when a process made for one definition must not serve the other (D-057, D-114). */
  fingerprint: string;
}

/** The part of a lambda's properties that the runner reads; the record has passed the type's own schema. */
const properties = z.object({
  runtime: z.string(),
  code_type: z.string(),
  code: z.string().default(''),
  package_url: z.string().default(''),
  compressed: z.union([z.boolean(), z.string()]).optional(),
  handler: z.string(),
  memory: z.number().default(512),
  timeout: z.number().default(30),
  headers: z.record(z.string(), z.string()).default({}),
  isolate: z.boolean().default(false),
  pre_warm: z.number().default(0),
  secrets: z
    .array(z.object({ mount_type: z.string(), secret_id: z.string(), path: z.string(), secret_key: z.string() }))
    .default([]),
});
type Properties = z.output<typeof properties>;

const secretItems = z.array(z.object({ key: z.string(), value: z.string().default('') })).default([]);

/** The lambda of that id, or undefined when there is none. */
export function findLambda(view: WorldView, id: Uuid): StoredResource | undefined {
  const found = view.find(id);
  return found && isLambda(found) ? found : undefined;
}

/** Is the resource a lambda? */
export function isLambda(resource: StoredResource): boolean {
  return resource.type === LAMBDA;
}

/**
 * Reads a lambda's record and all it inherits; while it `isDebugged` it has one process, which stays. Throws when a stored property is of a
 * wrong type.
 */
export function readDefinition(
  view: WorldView,
  lambda: StoredResource,
  maxTimeoutS: number,
  isDebugged = false,
  edition = 0,
): LambdaDefinition {
  const sent = properties.parse(lambda.properties);
  const secrets = sent.secrets.map((mount) => ({ ...mount, text: secretText(view, mount) }));
  const mounted = (type: string): Record<string, string> =>
    Object.fromEntries(
      secrets.filter(({ mount_type }) => mount_type.toLowerCase() === type).map(({ path, text }) => [path, text]),
    );
  const definition = {
    id: lambda.id,
    runtime: sent.runtime,
    code: codeOf(sent, edition),
    handler: sent.handler,
    memoryMb: sent.memory,
    env: { ...mergedEnv(view, lambda), ...mounted('env') },
    secretFiles: mounted('file'),
    // A process that has served others is none of an isolated lambda's.
    isIsolated: sent.isolate && !isDebugged,
    isDebugged,
  };
  return {
    ...definition,
    name: lambda.name,
    timeoutMs: Math.min(sent.timeout, maxTimeoutS) * 1_000,
    preWarm: isDebugged ? 1 : sent.pre_warm,
    accept: acceptIn(sent.headers),
    fingerprint: createHash('sha256').update(JSON.stringify(definition)).digest('hex'),
  };
}

function codeOf(sent: Properties, edition: number): CodeSource {
  if (sent.code_type.toLowerCase() !== 'package') return { kind: 'inline', text: decodeSource(sent.code) };
  const isZip = sent.compressed === undefined ? undefined : String(sent.compressed) === 'true';
  return { kind: 'package', url: sent.package_url, isZip, edition };
}

/** A secret or item that is gone is an empty text: what names it is the world's matter, not the runner's. */
function secretText(view: WorldView, { secret_id, secret_key }: { secret_id: string; secret_key: string }): string {
  const items = secretItems.parse(view.find(secret_id.toLowerCase())?.properties.items);
  return decodeText(items.find(({ key }) => key === secret_key)?.value ?? '');
}

/** The `Accept` of a lambda's headers, taken literally; a wildcard counts as absent (D-137). */
function acceptIn(headers: Record<string, string>): string | undefined {
  const accept = Object.entries(headers).find(([name]) => name.toLowerCase() === 'accept')?.[1];
  return accept && !accept.includes('*') ? accept : undefined;
}

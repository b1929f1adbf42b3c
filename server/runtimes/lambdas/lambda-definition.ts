import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { decodeSource } from '../../model/decode-text.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { mergedEnv } from '../../model/rules/hierarchy.ts';
import { LAMBDA, lambdaProperties } from '../../model/types/lambda.ts';
import { typed } from '../../model/types/schema-parts.ts';
import { secretText as itemText, secretProperties } from '../../model/types/secret.ts';

export type CodeSource =
  | { kind: 'inline'; text: string }
  /** `isZip` undefined: look at the bytes. `edition`: how often fetching it again was requested. */
  | { kind: 'package'; url: string; isZip: boolean | undefined; edition: number };

/** A lambda as it runs, with effective defaults (D-056). */
export interface LambdaDefinition {
  id: Uuid;
  name: string;
  runtime: string;
  code: CodeSource;
  handler: string;
  memoryMb: number;
  timeoutMs: number;
  env: Record<string, string>;
  /** Secrets of mount type file: path to content. */
  secretFiles: Record<string, string>;
  isIsolated: boolean;
  /** True if the lambda runs in one process with a debugger and without a timeout. */
  isDebugged: boolean;
  preWarm: number;
  accept: string | undefined;
  /** Differs when a process made for one definition must not serve the other (D-057, D-114). */
  fingerprint: string;
  /** A sentence for the log. */
  note: string | undefined;
}

export function findLambda(view: WorldView, id: Uuid): StoredResource | undefined {
  const found = view.find(id);
  return found && isLambda(found) ? found : undefined;
}

export function isLambda(resource: StoredResource): boolean {
  return resource.type === LAMBDA;
}

/** Reads a lambda with all it inherits; with `isDebugged` it has one process, which stays. Throws for a property of a wrong type. */
export function readDefinition(
  view: WorldView,
  lambda: StoredResource,
  maxTimeoutS: number,
  isDebugged = false,
  edition = 0,
): LambdaDefinition {
  const properties = typed(lambdaProperties, lambda);
  const { memory = 512, timeout = 30, isolate = false, pre_warm: preWarm = 0, headers = {} } = properties;
  const secrets = (properties.secrets ?? []).map((mount) => ({ ...mount, item: secretItem(view, mount) }));
  const mounted = (type: string): Record<string, string> =>
    Object.fromEntries(
      secrets
        .filter(({ mount_type }) => mount_type.toLowerCase() === type)
        .map(({ path, item }) => [path, itemText(item)]),
    );
  const definition = {
    id: lambda.id,
    runtime: properties.runtime,
    code: codeOf(properties, edition),
    handler: properties.handler,
    memoryMb: memory,
    env: { ...mergedEnv(view, lambda), ...mounted('env') },
    secretFiles: mounted('file'),
    // An isolated lambda never runs in a process that has served others.
    isIsolated: isolate && !isDebugged,
    isDebugged,
  };
  const missing = secrets.filter(({ item }) => item === undefined).map(({ path }) => path);
  return {
    ...definition,
    name: lambda.name,
    note:
      missing.length === 0
        ? undefined
        : `${missing.join(', ')} is empty, because its secret or its item in it does not exist`,
    timeoutMs: Math.min(timeout, maxTimeoutS) * 1_000,
    preWarm: isDebugged ? 1 : preWarm,
    accept: acceptIn(headers),
    fingerprint: createHash('sha256').update(JSON.stringify(definition)).digest('hex'),
  };
}

function codeOf(
  { code_type: type, code = '', package_url: url = '', compressed }: z.output<typeof lambdaProperties>,
  edition: number,
): CodeSource {
  if (type.toLowerCase() !== 'package') return { kind: 'inline', text: decodeSource(code) };
  const isZip = compressed === undefined ? undefined : String(compressed) === 'true';
  return { kind: 'package', url, isZip, edition };
}

/** The mounted item of a secret; undefined after a deletion. */
function secretItem(
  view: WorldView,
  { secret_id, secret_key }: { secret_id: string; secret_key?: string | undefined },
) {
  const secret = view.find(secret_id.toLowerCase());
  const items = secret ? typed(secretProperties, secret).items : [];
  return items.find(({ key }) => key === secret_key);
}

/** The `Accept` of a lambda's headers, taken literally; a wildcard counts as absent (D-137). */
function acceptIn(headers: Record<string, string>): string | undefined {
  const accept = Object.entries(headers).find(([name]) => name.toLowerCase() === 'accept')?.[1];
  return accept && !accept.includes('*') ? accept : undefined;
}

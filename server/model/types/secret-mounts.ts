import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { Uuid } from '../ids.ts';
import { type JsonObject, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import type { WorldView } from '../world-view.ts';
import { uuid } from './schema-parts.ts';
import { SECRET } from './secret.ts';

/** Schema of `secrets`: what of which secret goes where (D-045, D-056). A directory takes the whole secret. */
export function secretMounts(...mountTypes: ('env' | 'file' | 'directory')[]) {
  return z.array(
    z.looseObject({
      mount_type: z.enum(mountTypes),
      secret_id: uuid,
      path: z.string().min(1),
      secret_key: z.string().optional(),
    }),
  );
}

/** The ids that the elements of a list property have under a member name. */
export function mountedIds(properties: JsonObject, list: string, member: string): Uuid[] {
  const mounts = properties[list];
  if (!Array.isArray(mounts)) return [];
  return mounts.flatMap((mount) => {
    const id = memberOf(mount, member);
    return typeof id === 'string' ? id.toLowerCase() : [];
  });
}

export function mountedSecretIds(record: Pick<StoredResource, 'properties'>): Uuid[] {
  return mountedIds(record.properties, 'secrets', 'secret_id');
}

/** Throws 400 unless every mounted secret exists and a key is named where one is needed. */
export function demandSecrets(view: WorldView, properties: JsonObject): void {
  const mounts = properties.secrets;
  if (!Array.isArray(mounts)) return;
  mounts.forEach((mount, index) => {
    const at = `/properties/secrets/${index}`;
    const [id = ''] = mountedIds({ only: [mount] }, 'only', 'secret_id');
    if (view.find(id)?.type !== SECRET) throw invalid(`${at}/secret_id`, `names no secret: ${id}`);
    if (memberOf(mount, 'mount_type') !== 'directory' && !memberOf(mount, 'secret_key')) {
      throw invalid(`${at}/secret_key`, 'is required: which item of the secret');
    }
  });
}

/** The properties without the mounts of what is being deleted (D-079); undefined when there are none. */
export function withoutMount(properties: JsonObject, list: string, member: string, gone: Uuid): JsonObject | undefined {
  const mounts = properties[list];
  if (!Array.isArray(mounts) || !mountedIds(properties, list, member).includes(gone)) return undefined;
  return {
    ...properties,
    [list]: mounts.filter((mount) => !mountedIds({ only: [mount] }, 'only', member).includes(gone)),
  };
}

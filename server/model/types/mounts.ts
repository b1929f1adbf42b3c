import { z } from 'zod';
import { invalid } from '../errors.ts';
import type { Uuid } from '../ids.ts';
import { type Json, type JsonObject, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import type { WorldView } from '../world-view.ts';
import { uuid } from './schema-parts.ts';
import { SECRET } from './secret.ts';

/** The lists of mounts, and the member that says what is mounted. */
const idMembers = { secrets: 'secret_id', volumes: 'volume_id' } as const;
type MountList = keyof typeof idMembers;

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

/** Throws 400 unless every mounted secret exists and a key is named where one is needed. */
export function demandSecrets(view: WorldView, mounts: z.output<ReturnType<typeof secretMounts>>): void {
  mounts.forEach(({ mount_type: mountType, secret_id: id, secret_key: key }, index) => {
    const at = `/properties/secrets/${index}`;
    if (view.find(id)?.type !== SECRET) throw invalid(`${at}/secret_id`, `names no secret: ${id}`);
    if (mountType !== 'directory' && !key) throw invalid(`${at}/secret_key`, 'is required: which item of the secret');
  });
}

/** The id of what one mount of a list mounts. */
export function mountedId(mount: Json, list: MountList): Uuid | undefined {
  const id = memberOf(mount, idMembers[list]);
  return typeof id === 'string' ? id : undefined;
}

/** The ids of the secrets or volumes that a record mounts. */
export function mountedIds({ properties }: Pick<StoredResource, 'properties'>, list: MountList): Uuid[] {
  const mounts = properties[list];
  return Array.isArray(mounts) ? mounts.flatMap((mount) => mountedId(mount, list) ?? []) : [];
}

/** A record's properties without the mounts of what is being deleted (D-079); undefined when it mounts no such thing. */
export function withoutMount(
  record: Pick<StoredResource, 'properties'>,
  list: MountList,
  gone: Uuid,
): JsonObject | undefined {
  const mounts = record.properties[list];
  if (!Array.isArray(mounts) || !mountedIds(record, list).includes(gone)) return undefined;
  return { ...record.properties, [list]: mounts.filter((mount) => mountedId(mount, list) !== gone) };
}

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { formFacts } from '../form-facts.ts';
import type { Uuid } from '../ids.ts';
import { type Json, memberOf } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { idOf } from '../reference-facts.ts';
import type { Draft, WriteContext } from '../resource-type.ts';
import { VARIABLE_NAME, variableNameHint } from './schema-parts.ts';

/** The lists of mounts, and the member that says what is mounted. */
const idMembers = { secrets: 'secret_id', volumes: 'volume_id' } as const;
type MountList = keyof typeof idMembers;

/** Schema of `secrets`: what of which secret goes where (D-045, D-056). A directory takes the whole secret. */
export function secretMounts(...mountTypes: ('env' | 'file' | 'directory')[]) {
  return z.array(
    z.looseObject({
      mount_type: z.enum(mountTypes),
      secret_id: idOf({ to: { word: 'secrets', right: 'view' }, whenGone: 'unmounted', missing: 400 }).register(
        formFacts,
        { label: 'Secret' },
      ),
      path: z.string().min(1),
      secret_key: z
        .string()
        .optional()
        .register(formFacts, { label: 'Item', entryOf: { property: 'secret_id', list: 'items' } }),
    }),
  );
}

/** The ids of the secrets or volumes that a record mounts. */
export function mountedIds({ properties }: Pick<StoredResource, 'properties'>, list: MountList): Uuid[] {
  return mountsIn(properties[list]).flatMap((mount) => {
    const id = memberOf(mount, idMembers[list]);
    return typeof id === 'string' ? id : [];
  });
}

/**
 * Throws 400 unless each mount takes a key that its secret has, and has a variable, or an absolute path, to itself (D-045). A
 * mount that was there before stays, whatever became of its secret since (D-096).
 *
 * @param options.mayBeRelative may a path that is not absolute lead somewhere?
 */
export function demandMounts(
  draft: Pick<Draft, 'properties'>,
  { view, previous }: Pick<WriteContext, 'view' | 'previous'>,
  { mayBeRelative = false } = {},
): void {
  const targets = new Map<string, boolean>();
  const demandOwnTarget = (pointer: string, target: string, isNew: boolean) => {
    const other = targets.get(target);
    if (other !== undefined && (isNew || other)) throw invalid(pointer, 'is used by another mount');
    targets.set(target, isNew);
  };
  const demandAbsolute = (pointer: string, path: string) => {
    if (!path.startsWith('/') && !mayBeRelative) throw invalid(pointer, 'must be an absolute path, such as /etc/app');
  };
  const isNewIn = (list: MountList, mount: Json) =>
    !mountsIn(previous?.properties[list]).some((before) => isDeepStrictEqual(before, mount));

  mountsIn(draft.properties.secrets).forEach((mount, index) => {
    const at = `/properties/secrets/${index}`;
    const isNew = isNewIn('secrets', mount);
    const path = String(memberOf(mount, 'path'));
    const isVariable = memberOf(mount, 'mount_type') === 'env';
    if (isNew) {
      demandKey(mount, at, view.find(String(memberOf(mount, 'secret_id'))));
      if (!isVariable) demandAbsolute(`${at}/path`, path);
      else if (!VARIABLE_NAME.test(path)) throw invalid(`${at}/path`, variableNameHint);
    }
    demandOwnTarget(`${at}/path`, isVariable ? `$${path}` : plain(path), isNew);
  });
  mountsIn(draft.properties.volumes).forEach((mount, index) => {
    const pointer = `/properties/volumes/${index}/mount_path`;
    const isNew = isNewIn('volumes', mount);
    const path = String(memberOf(mount, 'mount_path'));
    if (isNew) demandAbsolute(pointer, path);
    demandOwnTarget(pointer, plain(path), isNew);
  });
}

function demandKey(mount: Json, at: string, secret: StoredResource | undefined): void {
  const key = memberOf(mount, 'secret_key');
  if (memberOf(mount, 'mount_type') === 'directory') {
    if (key !== undefined)
      throw invalid(`${at}/secret_key`, 'must not be given for a directory, which takes the whole secret');
    return;
  }
  if (!key) throw invalid(`${at}/secret_key`, 'is required: which item of the secret');
  const items = secret?.properties.items;
  const keys = Array.isArray(items) ? items.map((item) => memberOf(item, 'key')) : [];
  if (secret && !keys.includes(key)) {
    throw invalid(
      `${at}/secret_key`,
      `names no item of secret '${secret.name}', which has ${keys.join(', ') || 'none'}`,
    );
  }
}

function mountsIn(mounts: Json | undefined): Json[] {
  return Array.isArray(mounts) ? mounts : [];
}

/** A path without what makes no difference. */
function plain(path: string): string {
  return path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
}

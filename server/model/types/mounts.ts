import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { elementsOf, type Json, memberOf } from '../json.ts';
import { formFacts, idOf } from '../property-facts.ts';
import type { StoredResource, Uuid } from '../record.ts';
import type { Draft, WriteContext } from '../resource-type.ts';
import { VARIABLE_NAME, variableNameHint } from './schema-parts.ts';

const idMembers = { secrets: 'secret_id', volumes: 'volume_id' } as const;
type MountList = keyof typeof idMembers;

/** Schema of `secrets`: which key of which secret is mounted where (D-045, D-056). A directory mounts the entire secret. */
export function secretMounts(...mountTypes: ('env' | 'file' | 'directory')[]) {
  return z.array(
    z.looseObject({
      mount_type: z.enum(mountTypes),
      secret_id: idOf({ to: { word: 'secrets', right: 'view' }, onDelete: 'unmounted', missing: 400 }).register(
        formFacts,
        { label: 'Secret' },
      ),
      path: z
        .string()
        .min(1)
        .describe('Name of a variable for env; otherwise a path, absolute in a container. Used by one mount only'),
      secret_key: z
        .string()
        .optional()
        .describe('An item of the secret; required, except for a directory, which has none')
        .register(formFacts, { label: 'Item', entryOf: { property: 'secret_id', list: 'items' } }),
    }),
  );
}

export function mountedIds({ properties }: Pick<StoredResource, 'properties'>, list: MountList): Uuid[] {
  return elementsOf(properties[list]).flatMap((mount) => {
    const id = memberOf(mount, idMembers[list]);
    return typeof id === 'string' ? id : [];
  });
}

/** Throws 400 unless each new mount uses a key of its secret, and an unused variable or absolute path (D-045, D-096). */
export function requireMounts(
  draft: Pick<Draft, 'properties'>,
  { view, previous }: Pick<WriteContext, 'view' | 'previous'>,
  { mayBeRelative = false } = {},
): void {
  const targets = new Map<string, boolean>();
  const requireOwnTarget = (pointer: string, target: string, isNew: boolean) => {
    const other = targets.get(target);
    if (other !== undefined && (isNew || other)) throw invalid(pointer, 'is used by another mount');
    targets.set(target, isNew);
  };
  const requireAbsolute = (pointer: string, path: string) => {
    if (!path.startsWith('/') && !mayBeRelative) throw invalid(pointer, 'must be an absolute path, such as /etc/app');
  };
  const isNewIn = (list: MountList, mount: Json) =>
    !elementsOf(previous?.properties[list]).some((before) => isDeepStrictEqual(before, mount));

  elementsOf(draft.properties.secrets).forEach((mount, index) => {
    const at = `/properties/secrets/${index}`;
    const isNew = isNewIn('secrets', mount);
    const path = String(memberOf(mount, 'path'));
    const isVariable = memberOf(mount, 'mount_type') === 'env';
    if (isNew) {
      requireKey(mount, at, view.find(String(memberOf(mount, 'secret_id'))));
      if (!isVariable) requireAbsolute(`${at}/path`, path);
      else if (!VARIABLE_NAME.test(path)) throw invalid(`${at}/path`, variableNameHint);
    }
    requireOwnTarget(`${at}/path`, isVariable ? `$${path}` : plain(path), isNew);
  });
  elementsOf(draft.properties.volumes).forEach((mount, index) => {
    const pointer = `/properties/volumes/${index}/mount_path`;
    const isNew = isNewIn('volumes', mount);
    const path = String(memberOf(mount, 'mount_path'));
    if (isNew) requireAbsolute(pointer, path);
    requireOwnTarget(pointer, plain(path), isNew);
  });
}

function requireKey(mount: Json, at: string, secret: StoredResource | undefined): void {
  const key = memberOf(mount, 'secret_key');
  if (memberOf(mount, 'mount_type') === 'directory') {
    if (key !== undefined)
      throw invalid(`${at}/secret_key`, 'must not be set for a directory, which mounts the entire secret');
    return;
  }
  if (!key) throw invalid(`${at}/secret_key`, 'is required. Name the item of the secret.');
  const keys = elementsOf(secret?.properties.items).map((item) => memberOf(item, 'key'));
  if (secret && !keys.includes(key)) {
    throw invalid(
      `${at}/secret_key`,
      `is not an item of secret '${secret.name}', which has ${keys.join(', ') || 'none'}`,
    );
  }
}

function plain(path: string): string {
  return path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
}

import { isDeepStrictEqual } from 'node:util';
import type { StoredResource, WorldView } from '../../model/record.ts';
import { toDefaultsView } from '../../model/rules/provider-defaults.ts';

export type BuiltIn = ReturnType<typeof builtInOf>;

/**
 * Returns the resources that every platform has from the start (D-067, D-068, D-175).
 * @param gatewayUrl what an untouched default gateway publishes
 */
export function builtInOf(view: WorldView, gatewayUrl: string) {
  const defaults = toDefaultsView(view, gatewayUrl);
  const areDefaultsComplete = defaults.every(
    ({ wanted, found }) => found?.id === wanted.id || found?.type === wanted.type,
  );
  const fixed = defaults.filter(({ wanted, found }) => found?.id === wanted.id);
  const untouched = fixed.filter(
    ({ wanted, found }) => areDefaultsComplete && found && isPlain(found) && isDeepStrictEqual(wanted, partOf(found)),
  );
  const rootUser = view.find(view.root.owner);
  return {
    /** Would making the default providers leave the world as it is? */
    areDefaultsComplete,
    defaultIds: new Set(fixed.map(({ wanted }) => wanted.id)),
    /** Ids of resources that every world has from its start. */
    untouched: new Set([
      ...untouched.map(({ wanted }) => wanted.id),
      ...(rootUser && isPlainRootUser(rootUser) ? [rootUser.id] : []),
    ]),
  };
}

function partOf({ id, type, name, properties }: StoredResource) {
  return { id, type, name, properties };
}

/** True if the record has only a name and properties. */
function isPlain({ description, tags, variables, grants = {} }: StoredResource): boolean {
  const hasMore = [description, tags, variables].some((member) => member !== undefined);
  return !hasMore && Object.keys(grants).length === 0;
}

/** Whatever its password is: that is the configuration's to say. */
function isPlainRootUser(user: StoredResource): boolean {
  const { password: _, ...properties } = user.properties;
  return user.name === 'root' && isPlain(user) && isDeepStrictEqual(properties, { platform_home: 'root' });
}

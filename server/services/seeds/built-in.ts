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
    ({ draft, found }) => found?.id === draft.id || found?.type === draft.type,
  );
  const fixed = defaults.filter(({ draft, found }) => found?.id === draft.id);
  const untouched = fixed.filter(
    ({ draft, found }) => areDefaultsComplete && found && isPlain(found) && isDeepStrictEqual(draft, partOf(found)),
  );
  const rootUser = view.find(view.root.owner);
  return {
    /** Would making the default providers leave the world as it is? */
    areDefaultsComplete,
    defaultIds: new Set(fixed.map(({ draft }) => draft.id)),
    /** Ids of resources that every world has from its start. */
    untouched: new Set([
      ...untouched.map(({ draft }) => draft.id),
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

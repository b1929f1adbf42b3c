import { isDeepStrictEqual } from 'node:util';
import type { Uuid } from '../model/ids.ts';
import { presentDefaults } from '../model/provider-defaults.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';

/** What every platform has from the start, as a world has it (D-067, D-068, D-175). */
export interface BuiltIn {
  /** Would making the default providers leave the world as it is? */
  areDefaultsComplete: boolean;
  /** Those default providers that are known by their fixed ids. */
  defaultIds: ReadonlySet<Uuid>;
  /** Ids of what is there as it was made, and would be in any other world. */
  untouched: ReadonlySet<Uuid>;
}

/** @param gatewayUrl `{gateway_url}`: what an untouched default gateway publishes */
export function builtInOf(view: WorldView, gatewayUrl: string): BuiltIn {
  const defaults = presentDefaults(view, gatewayUrl);
  const areDefaultsComplete = defaults.every(
    ({ wanted, found }) => found?.id === wanted.id || found?.type === wanted.type,
  );
  const fixed = defaults.filter(({ wanted, found }) => found?.id === wanted.id);
  const untouched = fixed.filter(
    ({ wanted, found }) => areDefaultsComplete && found && isPlain(found) && isDeepStrictEqual(wanted, partOf(found)),
  );
  const rootUser = view.find(view.root.owner);
  return {
    areDefaultsComplete,
    defaultIds: new Set(fixed.map(({ wanted }) => wanted.id)),
    untouched: new Set([
      ...untouched.map(({ wanted }) => wanted.id),
      ...(rootUser && isPlainRootUser(rootUser) ? [rootUser.id] : []),
    ]),
  };
}

function partOf({ id, type, name, properties }: StoredResource) {
  return { id, type, name, properties };
}

/** Has it nothing but a name and properties? */
function isPlain({ description, tags, variables, grants = {} }: StoredResource): boolean {
  const hasMore = [description, tags, variables].some((member) => member !== undefined);
  return !hasMore && Object.keys(grants).length === 0;
}

/** Whatever its password is: that is the configuration's to say. */
function isPlainRootUser(user: StoredResource): boolean {
  const { password: _, ...properties } = user.properties;
  return user.name === 'root' && isPlain(user) && isDeepStrictEqual(properties, { platform_home: 'root' });
}

import { isJsonObject, type JsonObject, memberOf } from '../../model/json.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { replaceAt } from '../../model/rules/property-places.ts';
import { mountedIds } from '../../model/types/mounts.ts';

const MOUNT = ['volumes', '*'];
const REQUEST = 'volume_resource';

/** The wanted properties of a container or job in which a volume that was asked for and made before (D-045) is not asked for again. */
export function withCreatedVolumes(properties: JsonObject, stored: StoredResource, view: WorldView): JsonObject {
  if (!canMount(stored)) return properties;
  const mounted = mountedIds(stored, 'volumes').flatMap((id) => view.find(id) ?? []);
  return replaceAt(properties, MOUNT, (mount) => {
    const createdVolume = mounted.find(({ name }) => name === memberOf(memberOf(mount, REQUEST), 'name'));
    if (!createdVolume || !isJsonObject(mount)) return mount;
    const { [REQUEST]: _, ...rest } = mount;
    return { ...rest, volume_id: createdVolume.id };
  });
}

/** The volumes that a container or job got for what it asked for. */
export function madeVolumes(properties: JsonObject, stored: StoredResource): Uuid[] {
  if (!canMount(stored) || !Array.isArray(properties.volumes)) return [];
  const ids = mountedIds(stored, 'volumes');
  return properties.volumes.flatMap((mount, index) =>
    memberOf(mount, REQUEST) === undefined ? [] : (ids[index] ?? []),
  );
}

function canMount(record: StoredResource): boolean {
  return ['containers', 'jobs'].includes(typeOf(record).collection);
}

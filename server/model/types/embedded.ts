import type { StoredResource } from '../record.ts';
import type { WorldView } from '../world-view.ts';
import { providerIdOf } from './provider-rules.ts';

/** The endpoints whose target a lambda or container is (D-037, D-062). */
export function endpointsOf(record: StoredResource, view: WorldView): StoredResource[] {
  return view.referrers(record.id).filter(({ properties }) => properties.implementation_id === record.id);
}

/** The provider that a record names, as a list of at most one (D-037). */
export function embeddedProvider(record: StoredResource, view: WorldView): StoredResource[] {
  const found = view.find(providerIdOf(record) ?? '');
  return found ? [found] : [];
}

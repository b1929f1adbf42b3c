import type { StoredResource, WorldView } from '../record.ts';
import { providerIdOf } from './provider-rules.ts';

export function endpointsOf(record: StoredResource, view: WorldView): StoredResource[] {
  return view.referrers(record.id).filter(({ properties }) => properties.implementation_id === record.id);
}

/** The provider of a record, as a list of at most one (D-037). */
export function embeddedProvider(record: StoredResource, view: WorldView): StoredResource[] {
  const found = view.find(providerIdOf(record) ?? '');
  return found ? [found] : [];
}

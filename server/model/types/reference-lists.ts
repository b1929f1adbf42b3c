import type { ResourceState, Uuid } from '../record.ts';

/** An entry of a read-only reference list (D-006). */
interface ReferenceEntry {
  id: Uuid;
  name: string;
}

/** Purpose of an environment (D-043). */
export const environmentTypes = [
  { id: '9dd36f7e-735e-40a8-b626-876a3538566c', name: 'development' },
  { id: 'd0a22823-da3a-4fde-95c3-db223bf2d28c', name: 'test' },
  { id: '489e418a-ee4a-4f19-bb43-226153d926fb', name: 'production' },
  { id: '498093ad-4415-4168-96d0-8f4c75cc3f02', name: 'system' },
] as const satisfies readonly ReferenceEntry[];

/** States of a resource; the name follows `Resource::State::` (D-035). */
export const resourceStates: readonly (ReferenceEntry & { name: ResourceState })[] = [
  { id: '2ad1f4ce-7d1e-4bc9-a9bd-4de30a63521d', name: 'Active' },
  { id: '774df469-1751-4b38-a628-e3a3b5470cff', name: 'Failed' },
  { id: '2b56b253-5224-4f4e-b8db-2dc2993124a5', name: 'Pending' },
  { id: '681099f4-da63-48ef-99d0-75c01166d202', name: 'Corrupt' },
];

export const dataTypes: readonly ReferenceEntry[] = [
  { id: '1c981fd9-91e1-46d1-9880-0e45ab32fa19', name: 'string' },
  { id: '50b86981-4b1c-46a1-9b8a-86e5bebd085d', name: 'number' },
  { id: '0e341156-a6e3-447e-9171-5f433f854aac', name: 'integer' },
  { id: '4605074c-95b7-4fe5-9710-31c247d78f37', name: 'boolean' },
  { id: 'f21b43e2-0bbd-464a-9f6d-5e32e625c599', name: 'object' },
  { id: '4c4acfbf-6e10-4057-aa89-3176b2fb756f', name: 'array' },
];

export const visibilityTypes: readonly ReferenceEntry[] = [
  { id: '967d595e-0a9c-4fe5-9953-0dfeb8e08145', name: 'plain' },
  { id: '1652ba4b-bf91-4225-a5f5-d1726beed1ad', name: 'hidden' },
];

export const requirementTypes: readonly ReferenceEntry[] = [
  { id: 'bf358cc0-f24a-4d6c-8654-585bc8a700d3', name: 'optional' },
  { id: '6d3251c6-c003-408b-83ab-ae728cf6afc3', name: 'required' },
];

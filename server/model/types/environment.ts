import { z } from 'zod';
import { invalid } from '../errors.ts';
import { formFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { ENVIRONMENT } from '../rules/hierarchy.ts';
import { providerIdOf, requireServes } from './provider-rules.ts';
import { environmentTypes } from './reference-lists.ts';
import { caseInsensitiveEnum, typed, variablesInside } from './schema-parts.ts';

const names = environmentTypes.map(({ name }) => name);
const ids = environmentTypes.map(({ id }) => id);

const properties = z.strictObject({
  environment_type: caseInsensitiveEnum(names, ids)
    .describe('Name (in any case) or id of an environment type')
    .register(formFacts, { order: 1 }),
  env: variablesInside(2),
});

/** D-043, D-044. */
export const environment: ResourceType = {
  name: ENVIRONMENT,
  collection: 'environments',
  singular: 'environment',
  summary: 'Where containers and lambdas are deployed: for development, test, production, or the system.',
  parents: ['workspaces'],
  properties,
  first: { environment_type: 'development' },
  example: { name: 'development', properties: { environment_type: 'development' } },
  serverSet: ['workspace'],

  validate(draft, { view, previous }) {
    const typeInput = typed(properties, draft).environment_type.toLowerCase();
    const type = environmentTypes.find(({ id, name }) => typeInput === name || typeInput === id)?.name;
    if (!type) throw invalid('/properties/environment_type', `must be one of ${names.join(', ')}`);
    if (previous && previous.properties.environment_type !== type) {
      for (const workload of view.children(previous.id)) {
        const provider = view.find(providerIdOf(workload) ?? '');
        if (provider) requireServes(provider, type, '/properties/environment_type');
      }
    }
    return { properties: { ...draft.properties, environment_type: type } };
  },

  toView(record, { view, link }) {
    const workspace = record.parent ? view.find(record.parent) : undefined;
    return { ...record.properties, ...(workspace && { workspace: link(workspace) }) };
  },
};

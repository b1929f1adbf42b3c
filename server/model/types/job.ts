import type { ResourceType } from '../resource-type.ts';
import { definition, liveProperties, presentDefinition } from './container-definition.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    jobs: true;
  }
}

const JOB = 'Resource::Job';

/** A container that runs once (D-213). */
export const job: ResourceType = {
  ...definition,
  name: JOB,
  word: 'jobs',
  noun: 'job',
  summary: 'A container that runs once: instances that end are not started again.',
  first: { container_type: 'DOCKER' },
  serverSet: liveProperties,

  present(record, context) {
    return { ...presentDefinition(record, context), external_id: `/namespaces/${record.parent}/jobs/${record.name}` };
  },
};

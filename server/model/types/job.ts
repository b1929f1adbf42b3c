import type { ResourceType } from '../resource-type.ts';
import { definition, liveProperties, toDefinition } from './container-definition.ts';

const JOB = 'Resource::Job';

/** A container that runs once (D-213). */
export const job: ResourceType = {
  ...definition,
  name: JOB,
  collection: 'jobs',
  singular: 'job',
  summary: 'A container that runs once: instances that exit are not restarted.',
  first: { container_type: 'DOCKER' },
  serverSet: liveProperties,

  toView(record, context) {
    return { ...toDefinition(record, context), external_id: `/namespaces/${record.parent}/jobs/${record.name}` };
  },
};

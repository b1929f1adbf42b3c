import { z } from 'zod';
import type { ResourceType } from '../resource-type.ts';

const POLICY = 'Resource::Policy';

/** D-075, D-077. */
export const policy: ResourceType = {
  name: POLICY,
  collection: 'policies',
  singular: 'policy',
  summary: 'Rules for actions on a node and everything below it.',
  parents: ['orgs', 'workspaces', 'environments'],
  properties: z.strictObject({}),
  example: { name: 'watch', properties: {} },
  serverSet: ['rules'],
  toView: (record, { view, link }) => ({ ...record.properties, rules: view.children(record.id, 'rules').map(link) }),
};

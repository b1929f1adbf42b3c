import type { JsonObject } from '../../model/json.ts';
import { resourceTypes, typeWords } from '../../model/registry.ts';
import { listedOnlyWords, referenceWords } from '../../model/type-words.ts';
import { namingOf } from './type-naming.ts';

const uuid: JsonObject = { type: 'string', format: 'uuid' };
const text: JsonObject = { type: 'string' };

export const pathParameters: Readonly<Record<string, readonly [description: string, form: JsonObject]>> = {
  fqon: [
    'Fully qualified name of an organization: `root`, `child`, `child.grandchild`',
    { type: 'string', pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)*$', examples: ['root'] },
  ],
  word: [
    'Plural name of a resource type; `resources` represents any type',
    { type: 'string', enum: [...typeWords, 'resources'] },
  ],
  listed_word: ['Plural name of a type that is not emulated', { type: 'string', enum: [...listedOnlyWords] }],
  reference_word: ['Name of a reference list', { type: 'string', enum: [...referenceWords] }],
  resource_id: ['ID of a resource', uuid],
  child_word: ['Plural name of the child type', { type: 'string', enum: [...typeWords, 'resources'] }],
  child_id: ['ID of the child resource', uuid],
  sub_org_id: ['ID of a sub-organization', uuid],
  entitlement_id: ['ID of an entitlement', uuid],
  type_id: ['ID or full name of a resource type', { ...text, examples: ['28cbf0e0-2c48-4589-85d5-df97a3a1f318'] }],
  account_id: ['ID of an account, which equals the id of its user', uuid],
  directory_id: ['ID of a directory', uuid],
  api_key: ['An API key', text],
  token: ['An access token', text],
  token_id: ['SHA-256 of a token, in hex', text],
  commit_seq: ['Commit number', { type: 'integer', minimum: 1 }],
  execution_id: ['ID of an invocation', uuid],
  request_seq: ['Sequence number of a recorded request', { type: 'integer', minimum: 1 }],
  project_id: ['ID of a project of the mock GitLab', text],
  variable_key: ['Name of a variable', text],
  pipeline_id: ['ID of a pipeline run', text],
  job_name: ['Name of a job in the run', text],
  request_name: ['Name of a saved request', { type: 'string' }],
  fault_id: ['ID of a fault rule', uuid],
  lead_id: ['ID of a captured lead', uuid],
  mail_id: ['ID of a captured mail', uuid],
  attachment_number: ['Position of the attachment in the list, from 0', { type: 'integer', minimum: 0 }],
  snapshot_name: ['Name of a snapshot', text],
  result_id: ['ID of an asynchronous invocation, or of a lambda for its latest result', uuid],
  api_name: ['Name of an API', text],
  endpoint: ['`resource` of an endpoint without the first slash, followed by any path', text],
  ...Object.fromEntries(
    resourceTypes.map((type) => {
      const { one: singularName, idParameter } = namingOf(type);
      return [idParameter, [`Id of ${singularName}`, uuid]] as const;
    }),
  ),
};

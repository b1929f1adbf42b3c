import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Number of lambdas in each environment. It is fixed, so that a client's list has the same length in worlds of any size. */
const LAMBDAS_PER_ENVIRONMENT = 50;
const ENVIRONMENTS_PER_WORKSPACE = 10;

/** Ids of some resources in a large world. */
export interface LargeWorld {
  organization: string;
  environment: string;
  lambda: string;
}

/**
 * Fills the data folder of a platform that is not running with organizations of one workspace and ten environments each.
 *
 * @param size number of resources
 * @param crowd number of lambdas in the environment `crowded` of `org-0`; default 0
 */
export async function growWorld(dataDir: string, size: number, crowd = 0): Promise<LargeWorld> {
  const file = join(dataDir, 'world.json');
  const { checksum: _, ...world } = JSON.parse(await readFile(file, 'utf8')); // without it the file counts as edited by hand
  const resources = Object.values<{ id: string; parent: string | null; owner: string; name: string }>(world.resources);
  const root = resources.find((resource) => resource.parent === null);
  if (!root) throw new Error('the world has no root');
  const provider = resources.find((resource) => resource.name === 'default-lambda');
  const at = new Date().toISOString();
  let count = resources.length;
  const add = (type: string, name: string, parent: string, properties: object = {}) => {
    const id = randomUUID();
    const provenance = {
      owner: root.owner,
      created: { by: root.owner, at },
      modified: { action: 'create', by: root.owner, at },
    };
    world.resources[id] = { id, type, name, parent, state: 'Active', ...provenance, properties };
    count += 1;
    return id;
  };
  const addEnvironment = (name: string, workspace: string) =>
    add('Resource::Environment', name, workspace, { environment_type: 'development' });
  const addLambda = (number: number, environment: string) =>
    add('Resource::Node::Lambda', `lambda-${number}`, environment, {
      provider: { id: provider?.id },
      runtime: 'nodejs',
      code_type: 'code',
      code: 'exports.run = () => 1',
      handler: 'run',
      env: { N: String(number) },
    });
  const firstLocation = { organization: '', environment: '', lambda: '' };
  for (let org = 0; count < size; org++) {
    const organization = add('Resource::Organization', `org-${org}`, root.id);
    const workspace = add('Resource::Workspace', 'shop', organization);
    if (org === 0 && crowd > 0) {
      const crowded = addEnvironment('crowded', workspace);
      for (let lambda = 0; lambda < crowd; lambda++) addLambda(lambda, crowded);
    }
    for (let env = 0; env < ENVIRONMENTS_PER_WORKSPACE && count < size; env++) {
      const environment = addEnvironment(`env-${env}`, workspace);
      for (let lambda = 0; lambda < LAMBDAS_PER_ENVIRONMENT && count < size; lambda++) {
        const id = addLambda(lambda, environment);
        if (org === 0 && env === 0) Object.assign(firstLocation, { organization: 'org-0', environment, lambda: id });
      }
    }
  }
  await writeFile(file, JSON.stringify(world, null, 2));
  return firstLocation;
}

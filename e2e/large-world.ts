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
  /** The environment `crowded` of `org-0`, if there is one. */
  crowded: string;
}

/**
 * Fills the data folder of a platform that is not running with organizations of one workspace and ten environments each.
 *
 * @param size number of resources
 * @param crowd number of lambdas in the environment `crowded` of `org-0`; default 0
 * @param isMixed whether to create resources of all other types, too
 */
export async function growWorld(dataDir: string, size: number, crowd = 0, isMixed = false): Promise<LargeWorld> {
  const file = join(dataDir, 'world.json');
  const { checksum: _, ...world } = JSON.parse(await readFile(file, 'utf8')); // without it the file counts as edited by hand
  const resources = Object.values<{ id: string; parent: string | null; owner: string; name: string }>(world.resources);
  const root = resources.find((one) => one.parent === null);
  if (!root) throw new Error('the world has no root');
  const provider = resources.find((one) => one.name === 'default-lambda');
  const docker = resources.find((one) => one.name === 'default-docker');
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
  /** Creates as many resources of other types as lambdas. */
  const addOthers = (number: number, environment: string, lambda: string) => {
    const onDocker = { provider: { id: docker?.id } };
    const container = { container_type: 'DOCKER', image: 'nginx:1.27', num_instances: 0, cpus: 0.1, memory: 128 };
    const api = add('Resource::Api', `api-${count}`, environment);
    for (let at = 0; at < 3; at++)
      add('Resource::ApiEndpoint', `e${at}`, api, {
        resource: `/e${at}`,
        implementation_type: 'lambda',
        implementation_id: lambda,
      });
    add('Resource::Container', `container-${number}`, environment, { ...onDocker, ...container });
    add('Resource::Job', `job-${number}`, environment, { ...onDocker, ...container });
    add('Resource::Secret', `secret-${number}`, environment, { ...onDocker, items: [{ key: 'a', value: 'b' }] });
    add('Resource::Volume', `volume-${number}`, environment, { ...onDocker, type: 'persistent' });
  };
  const addPeople = (organization: string, number: number, lambda: string) => {
    const user = add('Resource::User', `user-${number}`, organization, { email: `user-${number}@example.com` });
    add('Resource::Group', `group-${number}`, organization, { users: [user] });
    const policy = add('Resource::Policy', `policy-${number}`, organization);
    const match_actions = [{ action: 'secret.migrate.post' }];
    add('Resource::Rule::Event', 'rule', policy, { match_actions, lambda });
  };
  const place = { organization: '', environment: '', lambda: '', crowded: '' };
  for (let org = 0; count < size; org++) {
    const organization = add('Resource::Organization', `org-${org}`, root.id);
    const workspace = add('Resource::Workspace', 'shop', organization);
    if (org === 0 && crowd > 0) {
      const crowded = addEnvironment('crowded', workspace);
      place.crowded = crowded;
      for (let lambda = 0; lambda < crowd; lambda++) addLambda(lambda, crowded);
    }
    for (let env = 0; env < ENVIRONMENTS_PER_WORKSPACE && count < size; env++) {
      const environment = addEnvironment(`env-${env}`, workspace);
      for (let lambda = 0; lambda < LAMBDAS_PER_ENVIRONMENT && count < size; lambda++) {
        const id = addLambda(lambda, environment);
        if (isMixed && lambda % 5 === 0) addOthers(lambda, environment, id);
        if (isMixed && lambda % 10 === 0) addPeople(organization, 100 * env + lambda, id);
        if (org === 0 && env === 0) Object.assign(place, { organization: 'org-0', environment, lambda: id });
      }
    }
  }
  await writeFile(file, JSON.stringify(world, null, 2));
  return place;
}

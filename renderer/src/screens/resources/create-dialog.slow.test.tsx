import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { fill, pick, pickResource, renderWindow } from '../../../testing/render-window.tsx';

interface CreatedResource {
  id: string;
  name: string;
  description?: string;
  properties: Record<string, unknown>;
}

const platform = sharedPlatform();
const { root } = platform;
let orgId: string;
let workspaceId: string;
let environmentId: string;

beforeAll(async () => {
  orgId = (await root.create('/root', { name: 'acme' })).id;
  workspaceId = (await root.create('/acme/workspaces', { name: 'shop' })).id;
  const environment = { name: 'dev', properties: { environment_type: 'test' } };
  environmentId = (await root.create(`/acme/workspaces/${workspaceId}/environments`, environment)).id;
});

const inside = (collection: string, body: object) =>
  root.create(`/acme/environments/${environmentId}/${collection}`, body);

const providerNamed = async (name: string) => {
  const { body } = await root.get('/root/providers?expand=true');
  return { id: body.find((provider: CreatedResource) => provider.name === name)?.id };
};

const makeLambda = async (name: string): Promise<CreatedResource> => {
  const code = 'exports.run = (event, context, done) => done(null, {})';
  const provider = await providerNamed('default-lambda');
  const properties = { provider, runtime: 'nodejs', code_type: 'inline', handler: 'run', code };
  return inside('lambdas', { name, properties });
};

/** Types that need a provider. */
const HAS_PROVIDER = new Set(['lambdas', 'secrets', 'volumes', 'containers', 'jobs']);

/** Opens the form for a new resource below a place. */
async function begin(parentId: string, collection: string, kind: string) {
  await renderWindow(platform, `resources/${parentId}?new=${collection}`);
  const dialog = await screen.findByRole('alertdialog', { name: `New ${kind}` });
  await waitFor(() => expect(within(dialog).queryByText('Loading the form')).toBeNull());
  // The only provider that there is, is chosen once it is known.
  if (HAS_PROVIDER.has(collection)) await waitFor(() => expect(dialog.textContent).toContain('"provider"'));
  const create = () => within(dialog).getByRole('button', { name: `Create ${kind}` });
  return {
    dialog,
    create,
    /** Sends the form and reads the created resource. */
    async submit(): Promise<CreatedResource> {
      await userEvent.click(create());
      await waitFor(() => expect(dialog.isConnected, dialog.textContent ?? '').toBe(false));
      const [, id] = /resources\/([0-9a-f-]{36})$/.exec(location.pathname) ?? [];
      expect(id).not.toBe(parentId);
      return (await root.get(`/root/resources/${id}`)).body;
    },
  };
}

describe('the form of a new resource', () => {
  it('marks the field of a name that the server refuses, and creates once it is corrected', async () => {
    const { body: top } = await root.get('/root');
    const { dialog, create, submit } = await begin(top.id, 'orgs', 'organization');
    expect(await within(dialog).findByRole('combobox', { name: 'in' })).toHaveProperty('value', 'root');
    await fill(dialog, 'name', 'Not A Name');
    await userEvent.click(create());
    await within(dialog).findAllByText(/lower-case letters/);
    expect(within(dialog).getByLabelText('name').getAttribute('aria-invalid')).toBe('true');
    await fill(dialog, 'name', 'second');
    expect(await submit()).toMatchObject({ name: 'second' });
    await screen.findByRole('heading', { name: 'second' });
  });

  it('creates a workspace with a description', async () => {
    const { dialog, submit } = await begin(orgId, 'workspaces', 'workspace');
    await fill(dialog, 'name', 'store');
    await fill(dialog, 'description', 'Sells jars');
    expect(await submit()).toMatchObject({ name: 'store', description: 'Sells jars' });
  });

  it('creates an environment whose secret variable is typed as a password', async () => {
    const { dialog, submit } = await begin(workspaceId, 'environments', 'environment');
    await fill(dialog, 'name', 'live');
    await pick(dialog, /environment_type/, 'test');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to env' }));
    await fill(dialog, 'env: name 1', 'API_TOKEN');
    await fill(dialog, 'env: value of API_TOKEN', 'top-s3cret');
    expect(within(dialog).getByLabelText('env: value of API_TOKEN').getAttribute('type')).toBe('password');
    expect((await submit()).properties).toMatchObject({ environment_type: 'test', env: { API_TOKEN: 'top-s3cret' } });
  });

  it('creates a user, and reads the password back nowhere', async () => {
    const { dialog, submit } = await begin(orgId, 'users', 'user');
    await fill(dialog, 'name', 'grace');
    await fill(dialog, 'email', 'grace@example.com');
    await fill(dialog, 'password', 'a long passphrase');
    expect(within(dialog).getByLabelText('password').getAttribute('type')).toBe('password');
    await pick(dialog, /platform_home/, 'acme');
    const user = await submit();
    expect(user.properties).toMatchObject({ email: 'grace@example.com', platform_home: 'acme' });
    expect(JSON.stringify(user)).not.toContain('passphrase');
  });

  it('creates a group with a user', async () => {
    const user = await root.create('/acme/users', { name: 'linus', properties: { password: 'a long one' } });
    const { dialog, submit } = await begin(orgId, 'groups', 'group');
    await fill(dialog, 'name', 'admirals');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to users' }));
    await pickResource(dialog, 'users 1', 'linus');
    expect((await submit()).properties.users).toMatchObject([{ id: user.id }]);
  });

  it('creates a lambda with what a new one begins with', async () => {
    const { dialog, submit } = await begin(environmentId, 'lambdas', 'lambda');
    await fill(dialog, 'name', 'first');
    const { properties } = await submit();
    expect(properties).toMatchObject({ runtime: 'nodejs', handler: 'run' });
    expect(properties.provider).toHaveProperty('id');
  });

  it('creates an endpoint of a lambda, with its methods and its limit', async () => {
    const lambda = await makeLambda('hello');
    const { id } = await inside('apis', { name: 'greetings' });
    const { dialog, submit } = await begin(id, 'apiendpoints', 'endpoint');
    await fill(dialog, 'name', 'hello');
    await fill(dialog, 'resource', '/hello');
    await pickResource(dialog, 'implementation_id', 'hello');
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'POST' }));
    await userEvent.click(within(dialog).getByRole('switch', { name: 'plugins rateLimit enabled' }));
    await fill(dialog, 'plugins rateLimit perMinute', '60');
    expect((await submit()).properties).toMatchObject({
      implementation_id: lambda.id,
      methods: ['POST'],
      plugins: { rateLimit: { enabled: true, perMinute: 60 } },
    });
  });

  it('creates a provider once its type is chosen', async () => {
    const { dialog, create, submit } = await begin(orgId, 'providers', 'provider');
    await fill(dialog, 'name', 'our-log');
    expect(create()).toHaveProperty('disabled', true);
    await pick(dialog, /resource_type/, 'Provider::Logging');
    await userEvent.click(await within(dialog).findByRole('checkbox', { name: 'production' }));
    expect((await submit()).properties.environment_types).toEqual(['production']);
  });

  it('creates a secret, typed as a password, of which only the key is read back', async () => {
    const { dialog, submit } = await begin(environmentId, 'secrets', 'secret');
    await fill(dialog, 'name', 'database');
    await fill(dialog, 'items 1 key', 'password');
    await fill(dialog, 'items 1 value', 'hunter2');
    expect(within(dialog).getByLabelText('items 1 value').getAttribute('type')).toBe('password');
    expect((await submit()).properties.items).toEqual([{ key: 'password' }]);
  });

  it('creates a volume of a size', async () => {
    const { dialog, submit } = await begin(environmentId, 'volumes', 'volume');
    await fill(dialog, 'name', 'files');
    await fill(dialog, 'size', '64');
    expect((await submit()).properties).toMatchObject({ type: 'persistent', size: 64 });
  });

  it('creates a container with a secret and a volume', async () => {
    const provider = await providerNamed('default-docker');
    const items = [{ key: 'password', value: 'x' }];
    const secret = await inside('secrets', { name: 'credentials', properties: { provider, items } });
    const volume = await inside('volumes', { name: 'uploads', properties: { provider, type: 'persistent' } });
    const { dialog, submit } = await begin(environmentId, 'containers', 'container');
    await fill(dialog, 'name', 'web');
    await fill(dialog, 'image', 'nginx:1.27');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to secrets' }));
    await pick(dialog, /secrets 1 mount_type/, 'env');
    await pickResource(dialog, 'secrets 1 secret_id', 'credentials');
    await pick(dialog, /secrets 1 secret_key/, 'password');
    await fill(dialog, 'secrets 1 path', 'DB_PASSWORD');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to volumes' }));
    await fill(dialog, 'volumes 1 mount_path', '/data');
    await pickResource(dialog, 'volumes 1 volume_id', 'uploads');
    expect((await submit()).properties).toMatchObject({
      image: 'nginx:1.27',
      secrets: [{ secret_id: secret.id, secret_key: 'password', path: 'DB_PASSWORD', mount_type: 'env' }],
      volumes: [{ volume_id: volume.id, mount_path: '/data' }],
      port_mappings: [{ name: 'web', container_port: 80, expose_endpoint: true }],
    });
  });

  it('creates an endpoint of a port of a container', async () => {
    const provider = await providerNamed('default-docker');
    const port_mappings = [{ name: 'http', protocol: 'tcp', container_port: 80, expose_endpoint: true }];
    const properties = { provider, container_type: 'DOCKER', image: 'nginx', port_mappings };
    await inside('containers', { name: 'shopfront', properties });
    const { id } = await inside('apis', { name: 'pages' });
    const { dialog, submit } = await begin(id, 'apiendpoints', 'endpoint');
    await fill(dialog, 'name', 'front');
    await fill(dialog, 'resource', '/front');
    await pick(dialog, /implementation_type/, 'container');
    await pickResource(dialog, 'implementation_id', 'shopfront');
    await pick(dialog, /container_port_name/, 'http');
    expect((await submit()).properties).toMatchObject({ container_port_name: 'http' });
  });

  it('creates a job with a command', async () => {
    const { dialog, submit } = await begin(environmentId, 'jobs', 'job');
    await fill(dialog, 'name', 'migrate');
    await fill(dialog, 'image', 'alpine:3');
    await fill(dialog, 'cmd', 'echo done');
    expect((await submit()).properties).toMatchObject({ cmd: 'echo done' });
  });

  it('creates a rule that calls a lambda', async () => {
    const lambda = await makeLambda('greeter');
    const { id } = await inside('policies', { name: 'limits' });
    const first = await begin(id, 'rules', 'rule');
    await fill(first.dialog, 'name', 'greet-new');
    await pick(first.dialog, /resource_type/, 'Rule::Event');
    await pickResource(first.dialog, 'lambda', 'greeter');
    expect((await first.submit()).properties.lambda).toMatchObject({ id: lambda.id });
  });

  it('creates a rule that limits a property', async () => {
    const { id } = await inside('policies', { name: 'sizes' });
    const { dialog, submit } = await begin(id, 'rules', 'rule');
    await fill(dialog, 'name', 'small');
    await pick(dialog, /resource_type/, 'Rule::Limit');
    await fill(dialog, 'match_actions 1 action', 'container.create');
    await fill(dialog, 'eval_logic property', 'container.properties.num_instances');
    await pick(dialog, /eval_logic operator/, '<=');
    await fill(dialog, 'eval_logic value', '4');
    expect((await submit()).properties.eval_logic).toEqual({
      property: 'container.properties.num_instances',
      operator: '<=',
      value: 4,
    });
  });

  it.each([
    ['apis', 'API'],
    ['policies', 'policy'],
  ])('creates what needs a name only: %s', async (collection, kind) => {
    const { dialog, submit } = await begin(environmentId, collection, kind);
    await fill(dialog, 'name', `my-${collection}`);
    expect(await submit()).toMatchObject({ name: `my-${collection}` });
  });
});

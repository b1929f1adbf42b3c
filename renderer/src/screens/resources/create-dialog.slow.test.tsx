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

const groupIn = (dialog: HTMLElement, name: string) => within(dialog).getByRole('group', { name });

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
    await fill(dialog, 'Name', 'Not A Name');
    await userEvent.click(create());
    await within(dialog).findAllByText(/lower-case letters/);
    expect(within(dialog).getByLabelText('Name').getAttribute('aria-invalid')).toBe('true');
    await fill(dialog, 'Name', 'second');
    expect(await submit()).toMatchObject({ name: 'second' });
    await screen.findByRole('heading', { name: 'second' });
  });

  it('creates a workspace with a description', async () => {
    const { dialog, submit } = await begin(orgId, 'workspaces', 'workspace');
    await fill(dialog, 'Name', 'store');
    await fill(dialog, 'Description', 'Sells jars');
    expect(await submit()).toMatchObject({ name: 'store', description: 'Sells jars' });
  });

  it('creates an environment whose secret variable is typed as a password', async () => {
    const { dialog, submit } = await begin(workspaceId, 'environments', 'environment');
    await fill(dialog, 'Name', 'live');
    await pick(dialog, /Environment type/, 'test');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to Environment variables' }));
    await fill(dialog, 'Environment variables: name 1', 'API_TOKEN');
    await fill(dialog, 'Environment variables: value of API_TOKEN', 'top-s3cret');
    expect(within(dialog).getByLabelText('Environment variables: value of API_TOKEN').getAttribute('type')).toBe(
      'password',
    );
    expect((await submit()).properties).toMatchObject({ environment_type: 'test', env: { API_TOKEN: 'top-s3cret' } });
  });

  it('creates a user, and reads the password back nowhere', async () => {
    const { dialog, submit } = await begin(orgId, 'users', 'user');
    await fill(dialog, 'Name', 'grace');
    await fill(dialog, 'Email', 'grace@example.com');
    await fill(dialog, 'Password', 'a long passphrase');
    expect(within(dialog).getByLabelText('Password').getAttribute('type')).toBe('password');
    await pick(dialog, /Home/, 'acme');
    const user = await submit();
    expect(user.properties).toMatchObject({ email: 'grace@example.com', platform_home: 'acme' });
    expect(JSON.stringify(user)).not.toContain('passphrase');
  });

  it('creates a group with a user', async () => {
    const user = await root.create('/acme/users', { name: 'linus', properties: { password: 'a long one' } });
    const { dialog, submit } = await begin(orgId, 'groups', 'group');
    await fill(dialog, 'Name', 'admirals');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to Members' }));
    await pickResource(dialog, 'Members 1', 'linus');
    expect((await submit()).properties.users).toMatchObject([{ id: user.id }]);
  });

  it('creates a lambda with what a new one begins with', async () => {
    const { dialog, submit } = await begin(environmentId, 'lambdas', 'lambda');
    await fill(dialog, 'Name', 'first');
    const { properties } = await submit();
    expect(properties).toMatchObject({ runtime: 'nodejs', handler: 'run' });
    expect(properties.provider).toHaveProperty('id');
  });

  it('creates an endpoint of a lambda, with its methods and its limit', async () => {
    const lambda = await makeLambda('hello');
    const { id } = await inside('apis', { name: 'greetings' });
    const { dialog, submit } = await begin(id, 'apiendpoints', 'endpoint');
    await fill(dialog, 'Name', 'hello');
    await fill(dialog, 'Path', '/hello');
    await pickResource(dialog, 'Target', 'hello');
    await userEvent.click(within(dialog).getByRole('checkbox', { name: 'POST' }));
    await userEvent.click(within(groupIn(dialog, 'Rate limit')).getByRole('switch', { name: 'Enabled' }));
    await fill(dialog, 'Requests per minute', '60');
    expect((await submit()).properties).toMatchObject({
      implementation_id: lambda.id,
      methods: ['POST'],
      plugins: { rateLimit: { enabled: true, perMinute: 60 } },
    });
  });

  it('creates a provider once its type is chosen', async () => {
    const { dialog, create, submit } = await begin(orgId, 'providers', 'provider');
    await fill(dialog, 'Name', 'our-log');
    expect(create()).toHaveProperty('disabled', true);
    await pick(dialog, /\bType\b/, 'Provider::Logging');
    await userEvent.click(await within(dialog).findByRole('checkbox', { name: 'production' }));
    expect((await submit()).properties.environment_types).toEqual(['production']);
  });

  it('creates a secret, typed as a password, of which only the key is read back', async () => {
    const { dialog, submit } = await begin(environmentId, 'secrets', 'secret');
    await fill(dialog, 'Name', 'database');
    const item = groupIn(dialog, 'Items 1');
    await fill(item, 'Key', 'password');
    await fill(item, 'Value', 'hunter2');
    expect(within(item).getByLabelText('Value').getAttribute('type')).toBe('password');
    expect((await submit()).properties.items).toEqual([{ key: 'password' }]);
  });

  it('creates a volume of a size', async () => {
    const { dialog, submit } = await begin(environmentId, 'volumes', 'volume');
    await fill(dialog, 'Name', 'files');
    await fill(dialog, 'Size', '64');
    expect((await submit()).properties).toMatchObject({ type: 'persistent', size: 64 });
  });

  it('creates a container with a secret and a volume', async () => {
    const provider = await providerNamed('default-docker');
    const items = [{ key: 'password', value: 'x' }];
    const secret = await inside('secrets', { name: 'credentials', properties: { provider, items } });
    const volume = await inside('volumes', { name: 'uploads', properties: { provider, type: 'persistent' } });
    const { dialog, submit } = await begin(environmentId, 'containers', 'container');
    await fill(dialog, 'Name', 'web');
    await fill(dialog, 'Image', 'nginx:1.27');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to Secrets' }));
    const mounted = groupIn(dialog, 'Secrets 1');
    await pick(mounted, /Mount type/, 'env');
    await pickResource(mounted, 'Secret', 'credentials');
    await pick(mounted, /Item/, 'password');
    await fill(mounted, 'Path', 'DB_PASSWORD');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Add to Volumes' }));
    await fill(dialog, 'Mount path', '/data');
    await pickResource(dialog, 'Volume id', 'uploads');
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
    await fill(dialog, 'Name', 'front');
    await fill(dialog, 'Path', '/front');
    await pick(dialog, /Target type/, 'container');
    await pickResource(dialog, 'Target', 'shopfront');
    await pick(dialog, /Port of the container/, 'http');
    expect((await submit()).properties).toMatchObject({ container_port_name: 'http' });
  });

  it('creates a job with a command', async () => {
    const { dialog, submit } = await begin(environmentId, 'jobs', 'job');
    await fill(dialog, 'Name', 'migrate');
    await fill(dialog, 'Image', 'alpine:3');
    await fill(dialog, 'Command', 'echo done');
    expect((await submit()).properties).toMatchObject({ cmd: 'echo done' });
  });

  it('creates a rule that calls a lambda', async () => {
    const lambda = await makeLambda('greeter');
    const { id } = await inside('policies', { name: 'limits' });
    const first = await begin(id, 'rules', 'rule');
    await fill(first.dialog, 'Name', 'greet-new');
    await pick(first.dialog, /\bType\b/, 'Rule::Event');
    await pickResource(first.dialog, 'Lambda', 'greeter');
    expect((await first.submit()).properties.lambda).toMatchObject({ id: lambda.id });
  });

  it('creates a rule that limits a property', async () => {
    const { id } = await inside('policies', { name: 'sizes' });
    const { dialog, submit } = await begin(id, 'rules', 'rule');
    await fill(dialog, 'Name', 'small');
    await pick(dialog, /\bType\b/, 'Rule::Limit');
    await fill(dialog, 'Action', 'container.create');
    const condition = groupIn(dialog, 'Condition');
    await fill(condition, 'Property', 'container.properties.num_instances');
    await pick(condition, /Operator/, '<=');
    await fill(condition, 'Value', '4');
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
    await fill(dialog, 'Name', `my-${collection}`);
    expect(await submit()).toMatchObject({ name: `my-${collection}` });
  });
});

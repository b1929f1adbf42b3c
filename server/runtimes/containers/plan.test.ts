import { expect, it } from 'vitest';
import { openStore } from '../../storage/world/world-store.ts';
import { cause, record, testOptions } from '../../testing/small-world.ts';
import { planOf } from './plan.ts';

it('a mounted item that its secret no longer has is empty, and the plan says so', async () => {
  const items = ['kept', 'other'].map((key) => ({ key, value: key, encoding: 'text' }));
  const secret = record('secrets', 'crm', { properties: { items } });
  const mountOf = (mount_type: string, path: string, secret_key?: string) => ({
    ...{ mount_type, path, secret_id: secret.id },
    ...(secret_key !== undefined && { secret_key }),
  });
  const container = record('containers', 'shop', {
    properties: {
      ...{ image: 'shop:1', cpus: 1, memory: 64, num_instances: 1, force_pull: false, provider: { id: 'docker' } },
      ...{ env: {}, labels: {}, port_mappings: [], health_checks: [], volumes: [] },
      secrets: [
        mountOf('env', 'KEPT', 'kept'),
        mountOf('env', 'GONE', 'gone'),
        mountOf('file', '/etc/gone', 'gone'),
        mountOf('directory', '/etc/crm'),
      ],
    },
  });
  const store = await openStore(testOptions());
  await store.commit({ put: [secret, container] }, cause);
  const { workload, notes } = planOf(store.view, container);
  expect(workload.env).toEqual({ KEPT: 'kept', GONE: '' });
  expect(notes).toEqual([
    "secret 'crm' has no item 'gone' now, so GONE is empty in each new instance",
    "secret 'crm' has no item 'gone' now, so /etc/gone is empty in each new instance",
  ]);
});

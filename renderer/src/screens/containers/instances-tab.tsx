import type { ContainerInstance } from '../../../../server/api/routes/containers.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { Copy } from '../../components/copy.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge, type Condition, State } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { shortId, useInstances } from './use-instances.ts';

export function InstancesTab({ record }: { record: PlatformRecord }) {
  const instances = useInstances(record.id);
  if (!instances.data) return <Pending query={instances} label="Reading the instances" rows={3} />;
  if (instances.data.length === 0)
    return <p className="px-4 py-3 text-muted">The engine has no instances of this container.</p>;
  return (
    <table className="w-full text-left">
      <TableHead heads={[{ text: 'State', className: 'pl-4' }, 'Instance', 'Health', 'Address', 'Started']} />
      <tbody>
        {instances.data.map((instance) => (
          <Row key={instance.id} instance={instance} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ instance }: { instance: ContainerInstance }) {
  return (
    <>
      <tr className="h-8 border-b border-line/55 [&>td]:px-2 [&>td:first-child]:pl-4">
        <td>
          <State is={conditionOf(instance)}>
            {instance.state}
            {instance.exitCode !== undefined && ` (${instance.exitCode})`}
          </State>
        </td>
        <td className="mono">
          <span className="flex items-center gap-1">
            {shortId(instance.id)}
            <Copy text={instance.id} subject="id of the instance" />
            {!instance.isCurrent && <Badge tone="warning">old definition</Badge>}
          </span>
        </td>
        <td className="text-muted">{instance.health === 'none' ? '-' : instance.health}</td>
        <td className="mono">
          {instance.ports.map(({ containerPort, host, port }) => (
            <p key={containerPort}>
              {host}:{port} <span className="text-faint">to {containerPort}</span>
            </p>
          ))}
          {instance.ipAddress && <p className="text-faint">{instance.ipAddress}</p>}
        </td>
        <td className="text-muted">{instance.startedAt && <Time at={instance.startedAt} />}</td>
      </tr>
      {(instance.error || instance.wasKilledForMemory) && (
        <tr className="border-b border-line/55">
          <td colSpan={5} className="px-4 pb-1.5 break-words text-error">
            {instance.wasKilledForMemory && 'The instance was killed because it exceeded its memory limit. '}
            {instance.error}
          </td>
        </tr>
      )}
    </>
  );
}

function conditionOf({ state, exitCode, health }: ContainerInstance): Condition {
  if (state === 'failed' || (state === 'exited' && exitCode !== 0)) return 'error';
  if (state === 'exited') return 'idle';
  if (state === 'running') return health === 'unhealthy' ? 'warning' : 'ok';
  return state === 'restarting' || state === 'paused' ? 'warning' : 'running';
}

import type { StoredAmount } from '../../../../server/api/routes/window.ts';
import { Bytes } from '../../components/amount.tsx';
import { Meter } from '../../components/meter.tsx';
import { TableHead } from '../../components/table-head.tsx';

/** The title of each part, and how to delete its contents if users can. */
const PARTS: Readonly<Record<string, { title: string; removal?: string }>> = {
  world: { title: 'World' },
  history: { title: 'History' },
  snapshots: { title: 'Snapshots', removal: 'Delete snapshots in History' },
  records: { title: 'Records of what ran' },
  leads: { title: 'Leads', removal: 'Delete all leads in Leads' },
  mails: { title: 'Mails', removal: 'Delete all mails in Mails' },
  results: { title: 'Results of lambdas' },
  packages: { title: 'Packages of lambdas' },
  scm: { title: 'Mock GitLab' },
  registry: { title: 'Images in the registry', removal: 'Delete the folder registry while the platform is stopped' },
  pipelines: { title: 'Pipeline runs' },
  artifacts: { title: 'Artifacts and caches of pipelines, of all platforms' },
  credentials: { title: 'Keys, tokens and sessions' },
  outbound: { title: 'Rules for outbound calls' },
  workbench: { title: 'Linked files and test events' },
  servicePorts: { title: 'Ports of containers' },
  sync: { title: 'State of pull and push' },
  earlierWorlds: { title: 'Worlds before a reset', removal: 'Delete the folder set-aside' },
  other: { title: 'Other files' },
  invocations: { title: 'Invocations' },
  requests: { title: 'Requests' },
  logs: { title: 'Lines of log, each source' },
};

/** Amount and limit of each kind of data: beyond the limit, the oldest is removed. */
export function AmountsTable({ label, amounts }: { label: string; amounts: readonly StoredAmount[] }) {
  return (
    <table aria-label={label} className="w-full text-left">
      <TableHead
        cell="pr-3"
        heads={[
          'Part',
          { text: 'Count / limit', className: 'w-44' },
          { text: 'Size / limit', className: 'w-44' },
          { text: 'Full', className: 'w-28 max-sm:hidden' },
        ]}
      />
      <tbody>
        {amounts.map((amount) => {
          const { part, folder, items, maxItems, sizeBytes, maxBytes } = amount;
          const { title, removal = folder && `Delete ${folder} while no pipeline runs` } = PARTS[part] ?? {
            title: part,
          };
          return (
            <tr key={part} className="h-8 border-b border-line/60">
              <th scope="row" className="pr-3 font-normal">
                {title}
                {removal !== undefined && sizeBytes !== undefined && sizeBytes > 0 && (
                  <span className="block break-all text-small text-muted">{removal}</span>
                )}
              </th>
              <td className="pr-3">
                {items?.toLocaleString('en') ?? <span className="text-faint">-</span>}
                {maxItems !== undefined && <span className="text-muted"> of {maxItems.toLocaleString('en')}</span>}
              </td>
              <td className="pr-3">
                <Bytes bytes={sizeBytes} />
                {maxBytes !== undefined && (
                  <span className="text-muted">
                    {' '}
                    of <Bytes bytes={maxBytes} />
                  </span>
                )}
              </td>
              <td className="max-sm:hidden">
                <UsageBar title={title} {...amount} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The cap that is nearer, as a meter. */
function UsageBar({ title, items, maxItems, sizeBytes, maxBytes }: StoredAmount & { title: string }) {
  const shares = [shareOf(items, maxItems), shareOf(sizeBytes, maxBytes)].filter((share) => share !== undefined);
  if (shares.length === 0) return <span className="text-faint">unlimited</span>;
  const percent = Math.round(Math.max(...shares) * 100);
  return <Meter label={`How full: ${title}`} value={percent} max={100} text={`${percent} %`} />;
}

function shareOf(amount: number | undefined, max: number | undefined): number | undefined {
  return amount === undefined || max === undefined ? undefined : Math.min(1, amount / max);
}

import { Send } from 'lucide-react';
import { useState } from 'react';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { Time, useNowMs } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { FilterField } from '../../components/fields.tsx';
import { Meter } from '../../components/meter.tsx';
import { Pending } from '../../components/pending.tsx';
import { Badge, State } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { conditionOfStatus, statusWord } from '../containers/container-status.ts';
import { endpointWords } from './endpoint-words.ts';
import { NEW_REQUEST } from './send-dialog.tsx';
import { StatusState } from './status-state.tsx';
import { type EndpointRow, type EndpointTarget, type EndpointUse, useEndpoints } from './use-endpoints.ts';
import { firstBodyFor, type WrittenRequest } from './use-saved-requests.ts';

/** More of them are not read row by row: a filter or the scope narrows them. */
const MAX_ROWS = 100;
/** So few are seen at once. */
const UNFILTERED_ROWS = 8;

/** The text that a filter searches. */
const textOf = ({ record, target }: EndpointRow): string => {
  const { methods, access } = endpointWords(record);
  return [record.properties.public_url, record.name, methods, access, target?.name].join(' ').toLowerCase();
};

/** The public endpoints: methods, address, target, who may call, how much of the limit is used, what came last. */
export function EndpointsTable({ onSend }: { onSend(request: WrittenRequest): void }) {
  const endpoints = useEndpoints();
  const [filter, setFilter] = useState('');
  const rows = endpoints.rows.filter((row) => textOf(row).includes(filter.trim().toLowerCase()));
  return (
    <section
      aria-label="Endpoints"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
      tabIndex={0}
      className="@container max-h-[42%] shrink-0 overflow-auto border-b border-line bg-panel"
    >
      {endpoints.rows.length > UNFILTERED_ROWS && (
        <FilterField
          label="Filter the endpoints"
          placeholder="Address, method, target or access"
          className="w-72 max-w-full px-3.5 py-1.5"
          value={filter}
          onChange={setFilter}
        />
      )}
      {endpoints.error || (endpoints.rows.length === 0 && endpoints.isPending) ? (
        <Pending query={endpoints} />
      ) : endpoints.rows.length === 0 ? (
        <p className="px-4 py-3 text-muted">
          No endpoints yet. An endpoint of an API gives a lambda or a container a public address.{' '}
          <PlaceLink to={{ screen: 'resources' }}>Open the resources</PlaceLink>
        </p>
      ) : (
        <table className="w-full">
          <TableHead
            heads={[
              { text: 'Methods', className: 'pl-3.5' },
              'Public address',
              'Target',
              { text: 'Access', className: '@max-[860px]:hidden' },
              { text: 'Limit', className: '@max-[700px]:hidden' },
              'Requests',
              { text: 'Last response', className: '@max-[420px]:hidden' },
            ]}
          />
          <tbody>
            {rows.slice(0, MAX_ROWS).map((row) => (
              <Row key={row.record.id} row={row} onSend={onSend} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > MAX_ROWS && (
        <p className="px-4 py-2 text-muted">
          {(rows.length - MAX_ROWS).toLocaleString('en')} more are not shown: filter the endpoints, or choose a narrower
          scope above.
        </p>
      )}
      {rows.length === 0 && endpoints.rows.length > 0 && (
        <p className="px-4 py-2 text-muted">No endpoint matches the filter.</p>
      )}
    </section>
  );
}

function Row({ row: { record, target, use }, onSend }: { row: EndpointRow; onSend(request: WrittenRequest): void }) {
  const [{ endpoint: chosen }, change] = useSearch();
  const { methods, hosts, access, isAsynchronous } = endpointWords(record);
  const { public_url: url } = record.properties;
  const address = typeof url === 'string' ? url : undefined;
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl;
  const isChosen = chosen === record.id;
  return (
    <tr className={`h-[30px] border-t border-line/55 ${isChosen ? 'bg-accent-soft' : ''}`}>
      <td className="px-3.5 whitespace-nowrap">{methods}</td>
      <td className="w-[35%] max-w-0 px-2">
        <span className="flex min-w-0 items-center gap-1">
          <span className="mono truncate" title={address}>
            {address === undefined ? '-' : shortened(address, gatewayUrl)}
          </span>
          {address !== undefined && (
            <Copy
              text={address}
              subject={`public address of ${record.name}`}
              className="scale-90 @max-[420px]:hidden"
            />
          )}
          {address !== undefined && (
            <IconButton
              icon={Send}
              needs="all"
              label={`Send a request to ${record.name}`}
              className="scale-90 @max-[420px]:hidden"
              onPress={async () => {
                const body = await firstBodyFor(target);
                onSend({ ...NEW_REQUEST, method: firstMethod(methods), path: pathOf(address), body });
              }}
            />
          )}
          {hosts.length > 0 && <Badge>{`also ${hosts.join(', ')}`}</Badge>}
        </span>
      </td>
      <td className="w-[35%] max-w-0 px-2">
        <span className="flex min-w-0 items-center gap-1.5 whitespace-nowrap">
          {target ? <Target target={target} /> : '-'}
          {isAsynchronous && (
            <span className="@max-[420px]:hidden">
              <Badge>asynchronous</Badge>
            </span>
          )}
          <PlaceLink
            to={{ screen: 'resources', id: record.id }}
            className="min-w-0 truncate text-faint hover:text-text @max-[420px]:hidden"
            label={`${record.name}: open the endpoint`}
          >
            {record.name}
          </PlaceLink>
        </span>
      </td>
      <td className="px-2 whitespace-nowrap text-muted @max-[860px]:hidden">{access}</td>
      <td className="px-2 whitespace-nowrap @max-[700px]:hidden">
        <Limit name={record.name} use={use} />
      </td>
      <td className="px-2">
        <button
          type="button"
          aria-pressed={isChosen}
          aria-label={`${counted(use?.total ?? 0, 'request')} to ${record.name}: show only these`}
          className="min-h-6 min-w-6 rounded px-1.5 text-left hover:bg-raised"
          onClick={() => change({ endpoint: isChosen ? undefined : record.id, plane: undefined, sel: undefined })}
        >
          {(use?.total ?? 0).toLocaleString('en')}
        </button>
      </td>
      <td className="px-2 whitespace-nowrap @max-[420px]:hidden">
        {use?.last ? (
          <span className="flex items-center gap-2">
            <StatusState status={use.last.status} />
            <span className="text-muted @max-[860px]:hidden">
              <Time at={use.last.at} />
            </span>
          </span>
        ) : (
          <span className="text-faint">none recorded</span>
        )}
      </td>
    </tr>
  );
}

/** The target; a container with its state, since callers depend on it. */
function Target({ target: { kind, id, name, isGone, status, reason } }: { target: EndpointTarget }) {
  if (isGone) {
    return (
      <span title="Callers receive 503 until the endpoint has another target">
        <State is="error">{`${kind} deleted`}</State>
      </span>
    );
  }
  return (
    <>
      <PlaceLink
        to={kind === 'lambda' ? { screen: 'lambdas', id } : { screen: 'containers', search: { sel: id } }}
        className="link min-w-0 truncate"
      >
        {name ?? kind}
      </PlaceLink>
      {kind === 'lambda' ? (
        <span className="@max-[860px]:hidden">
          <Badge>lambda</Badge>
        </span>
      ) : (
        <span title={reason}>
          <State is={conditionOfStatus(status ?? '')}>{status === undefined ? 'container' : statusWord(status)}</State>
        </span>
      )}
    </>
  );
}

function Limit({ name, use }: { name: string; use: EndpointUse | undefined }) {
  const nowMs = useNowMs();
  if (!use?.limit) return <span className="text-faint">none</span>;
  const { perMinute, endsAt } = use.limit;
  const used = endsAt !== undefined && Date.parse(endsAt) > nowMs ? use.limit.used : 0;
  return (
    <Meter
      label={`Requests of ${name} in this minute`}
      value={used}
      max={perMinute}
      text={`${used}/${perMinute} a minute`}
      width={36}
    />
  );
}

/** The address without the part that all of them share. */
function shortened(address: string, gatewayUrl: string | undefined): string {
  return gatewayUrl !== undefined && address.startsWith(`${gatewayUrl}/`) ? address.slice(gatewayUrl.length) : address;
}

/** The first of the methods that an endpoint has; it may have all. */
function firstMethod(methods: string): string {
  return /^(GET|POST|PUT|PATCH|DELETE)\b/.exec(methods)?.[1] ?? 'POST';
}

function pathOf(address: string): string {
  return new URL(address).pathname;
}

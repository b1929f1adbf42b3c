import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { kindOf } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { EmptyState, ErrorState } from '../../parts/empty-state.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { variablesOf } from './environment.ts';
import { useLineage } from './use-lineage.ts';

/** As long for every value: its length is nobody's business either. */
const MASK = '••••••••';

/** The variables that the lambda sees, its own and inherited ones; their values on demand. */
export function EnvironmentTab({ lambda }: { lambda: PlatformRecord }) {
  const above = useLineage(lambda);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  if (!above.data) {
    return above.error ? <ErrorState error={above.error} onRetry={() => void above.refetch()} /> : <Skeleton />;
  }
  const variables = variablesOf([lambda, ...above.data]);
  if (variables.length === 0) {
    return (
      <EmptyState title="No variables" text="The lambda has none of its own, and nothing above it gives it any.">
        <PlaceLink to={{ screen: 'resources', id: lambda.id }}>Edit the lambda</PlaceLink>
      </EmptyState>
    );
  }
  const areAllShown = variables.every(({ name }) => shown.has(name));
  const toggle = (name: string) => {
    const next = new Set(shown);
    if (!next.delete(name)) next.add(name);
    setShown(next);
  };
  return (
    <div>
      <div className="flex items-center gap-3 border-b border-line px-4 py-1.5">
        <span className="text-muted">
          {variables.length} variables, and those that the platform adds (<code>META_URL</code> ...)
        </span>
        <Button
          icon={areAllShown ? EyeOff : Eye}
          look="quiet"
          className="ml-auto"
          onPress={() => setShown(areAllShown ? new Set() : new Set(variables.map(({ name }) => name)))}
        >
          {areAllShown ? 'Hide all' : 'Show all'}
        </Button>
        <PlaceLink to={{ screen: 'resources', id: lambda.id }}>Edit</PlaceLink>
      </div>
      <table className="w-full table-fixed">
        <caption className="sr-only">Environment variables</caption>
        <thead>
          <tr className="h-7 border-b border-line text-left text-[11.5px] text-faint">
            <th className="w-[30%] px-4 font-normal">Name</th>
            <th className="px-2 font-normal">Value</th>
            <th className="w-[30%] px-2 font-normal">From</th>
          </tr>
        </thead>
        <tbody>
          {variables.map(({ name, value, from, overrides }) => {
            const isShown = shown.has(name);
            return (
              <tr key={name} className="h-[30px] border-b border-line/55">
                <td className="mono truncate px-4">{name}</td>
                <td className="px-2">
                  <span className="flex items-center gap-1">
                    <span className="mono min-w-0 break-all">
                      {isShown ? value : <span title="hidden">{MASK}</span>}
                      {!isShown && <span className="sr-only">hidden</span>}
                    </span>
                    <span className="ml-auto flex shrink-0">
                      <IconButton
                        icon={isShown ? EyeOff : Eye}
                        label={`${isShown ? 'Hide' : 'Show'} ${name}`}
                        onPress={() => toggle(name)}
                        className="size-6"
                      />
                      <Copy text={value} what={name} />
                    </span>
                  </span>
                </td>
                <td className="truncate px-2 text-muted">
                  {from === lambda ? (
                    'the lambda itself'
                  ) : (
                    <PlaceLink to={{ screen: 'resources', id: from.id }}>
                      {kindOf(from).title} {from.name}
                    </PlaceLink>
                  )}
                  {overrides.length > 0 && `, overrides ${overrides.map((one) => one.name).join(', ')}`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

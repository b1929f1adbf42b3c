import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { State } from '../../components/state.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { type PipelineProject, type PipelineVariable, useSetVariable } from './use-pipelines.ts';

const SOURCES = {
  project: 'set in the project',
  group: 'set in a group',
  run: 'made for each run',
  platform: 'from the platform',
} as const;

/** Shows the source of each variable of a project's pipelines. It sets variables in the project, which take precedence over all others. */
export function VariablesDialog({ project, onClose }: { project: PipelineProject; onClose(): void }) {
  const setting = useSetVariable(project.id);
  const [name, setName] = useState('');
  /** The row whose value is to be typed. */
  const [chosen, setChosen] = useState('');
  const [value, setValue] = useState('');
  const set = () =>
    setting.mutate(
      { name: name.trim(), value },
      {
        onSuccess: () => {
          setName('');
          setValue('');
        },
      },
    );
  return (
    <Dialog title={`Variables of ${project.path}`} onClose={onClose} width="large" making={setting}>
      <table className="w-full">
        <TableHead
          heads={[{ text: 'Variable', className: 'pl-0' }, 'From', 'Purpose', { text: 'Remove', isHidden: true }]}
        />
        <tbody>
          {project.variables.map((variable) => (
            <Row
              key={variable.name}
              variable={variable}
              onSet={() => {
                setName(variable.name);
                setChosen(variable.name);
              }}
              onRemove={() => setting.mutate({ name: variable.name, value: undefined })}
            />
          ))}
        </tbody>
      </table>
      <form
        className="mt-4 flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '' && value !== '') set();
        }}
      >
        <TextField label="Name" isMono value={name} onChange={setName} className="w-72 max-w-full" />
        <TextField
          key={chosen}
          autoFocus={chosen !== ''}
          label="Value"
          isMono
          type="password"
          value={value}
          onChange={setValue}
          className="flex-1 basis-32"
        />
        <Button
          type="submit"
          look="primary"
          isDisabled={name.trim() === '' || value === ''}
          isPending={setting.isPending}
        >
          Set in the project
        </Button>
      </form>
      <p className="mt-1 text-small text-faint">
        The mock GitLab stores the values; they are not shown again. The next run receives them.
      </p>
    </Dialog>
  );
}

function Row({ variable, onSet, onRemove }: { variable: PipelineVariable; onSet(): void; onRemove(): void }) {
  const { name, about: description, from, missing } = variable;
  return (
    <tr className="border-t border-line/55 align-top">
      <th scope="row" className="mono py-1.5 pr-2 text-left font-normal sm:whitespace-nowrap max-sm:break-all">
        {name}
      </th>
      <td className="px-2 py-1 max-sm:*:whitespace-normal">
        <State is={from ? 'ok' : 'error'}>{from ? SOURCES[from] : 'missing'}</State>
      </td>
      <td className="px-2 py-1 text-muted">
        {description}
        {missing !== undefined && <span className="block text-text">{missing}</span>}
      </td>
      <td className="text-right whitespace-nowrap">
        {from === 'project' ? (
          <IconButton icon={Trash2} label={`Remove ${name} from the project`} onPress={onRemove} />
        ) : (
          <Button look="quiet" onPress={onSet} aria-label={`Set ${name}`}>
            Set
          </Button>
        )}
      </td>
    </tr>
  );
}

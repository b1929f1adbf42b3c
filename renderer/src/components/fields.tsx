import { Check, ChevronDown, Minus, Plus, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import {
  NumberField as AriaNumberField,
  type NumberFieldProps as AriaNumberFieldProps,
  SearchField as AriaSearchField,
  type SearchFieldProps as AriaSearchFieldProps,
  Select as AriaSelect,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  Button,
  FieldError,
  Group,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
  TextArea,
} from 'react-aria-components';

export interface FieldWords {
  /** Always there for those who listen; `isLabelHidden` hides it from sight. */
  label: string;
  isLabelHidden?: boolean;
  /** Below the field: units, format, where a value comes from. */
  description?: ReactNode;
  /** The error, as the server or the form states it. If set, the field is marked. */
  error?: string | undefined;
}

export interface TextFieldProps extends Omit<AriaTextFieldProps, 'children' | 'className' | 'style'>, FieldWords {
  isMono?: boolean;
  /** Lines of a text area; one line without. */
  lines?: number;
  placeholder?: string;
  /** Inside the frame, after the text: a unit, what it was. */
  suffix?: ReactNode;
  className?: string;
}

export function TextField(props: TextFieldProps) {
  const {
    label,
    isLabelHidden,
    description,
    error,
    isMono,
    lines,
    placeholder,
    suffix,
    className = '',
    ...rest
  } = props;
  const look = `min-w-0 flex-1 bg-transparent px-2 py-1 text-text ${isMono ? 'mono' : ''}`;
  return (
    <AriaTextField
      {...rest}
      isInvalid={error !== undefined}
      validationBehavior={validationOf(error)}
      className={`flex min-w-0 flex-col gap-1 ${className}`}
    >
      <FieldLabel isHidden={isLabelHidden}>{label}</FieldLabel>
      <Group className="field-frame flex items-center data-[disabled]:opacity-60" isInvalid={error !== undefined}>
        {lines ? (
          <TextArea rows={lines} placeholder={placeholder} className={`${look} resize-y`} />
        ) : (
          <Input placeholder={placeholder} className={look} />
        )}
        {suffix && <span className="shrink-0 pr-2 text-small text-faint">{suffix}</span>}
      </Group>
      <FieldFoot description={description} error={error} />
    </AriaTextField>
  );
}

/** A browser does not submit a form with a natively invalid field, so a rejected form could never be sent again. */
function validationOf(error: string | undefined): 'native' | 'aria' {
  return error === undefined ? 'native' : 'aria';
}

export interface NumberFieldProps extends Omit<AriaNumberFieldProps, 'children' | 'className' | 'style'>, FieldWords {
  unit?: string;
  className?: string;
}

export function NumberField(props: NumberFieldProps) {
  const { label, isLabelHidden, description, error, unit, className = '', ...rest } = props;
  const step = 'flex size-6 items-center justify-center text-muted data-[hovered]:text-text data-[disabled]:opacity-30';
  return (
    <AriaNumberField
      {...rest}
      isInvalid={error !== undefined}
      validationBehavior={validationOf(error)}
      className={`flex flex-col gap-1 ${className}`}
    >
      <FieldLabel isHidden={isLabelHidden}>{label}</FieldLabel>
      <Group className="field-frame flex items-center data-[disabled]:opacity-60">
        <Input className="min-w-0 flex-1 bg-transparent px-2 py-1" />
        {unit && <span className="shrink-0 pr-1 text-small text-faint">{unit}</span>}
        <Button slot="decrement" className={step}>
          <Minus aria-hidden size={13} />
        </Button>
        <Button slot="increment" className={`${step} mr-0.5`}>
          <Plus aria-hidden size={13} />
        </Button>
      </Group>
      <FieldFoot description={description} error={error} />
    </AriaNumberField>
  );
}

export interface Option {
  id: string;
  text: string;
  /** A second line. */
  note?: string;
}

export interface SelectProps extends FieldWords {
  options: readonly Option[];
  value: string | undefined;
  onChange(id: string): void;
  placeholder?: string;
  isDisabled?: boolean;
  className?: string;
}

export function Select(props: SelectProps) {
  const {
    label,
    isLabelHidden,
    description,
    error,
    options,
    value,
    onChange,
    placeholder = 'Choose',
    className = '',
  } = props;
  return (
    <AriaSelect
      value={value ?? null}
      onChange={(key) => key !== null && onChange(String(key))}
      isDisabled={props.isDisabled ?? false}
      isInvalid={error !== undefined}
      placeholder={placeholder}
      className={`flex flex-col gap-1 ${className}`}
    >
      <FieldLabel isHidden={isLabelHidden}>{label}</FieldLabel>
      <Button className="field-frame flex h-7 items-center gap-2 px-2 text-left data-[disabled]:opacity-60 data-[hovered]:border-muted">
        <SelectValue className="min-w-0 flex-1 truncate data-[placeholder]:text-faint">
          {({ selectedText, isPlaceholder, defaultChildren }) => (isPlaceholder ? defaultChildren : selectedText)}
        </SelectValue>
        <ChevronDown aria-hidden size={13} className="text-muted" />
      </Button>
      <FieldFoot description={description} error={error} />
      <Popover
        offset={4}
        className="min-w-(--trigger-width) overflow-auto rounded-md border border-line bg-overlay p-1 shadow-pop"
      >
        <ListBox items={options} className="outline-none">
          {(option) => (
            <ListBoxItem
              id={option.id}
              textValue={option.text}
              className="group flex items-center gap-2 rounded px-2 py-1 outline-none data-[focused]:bg-accent-soft"
            >
              <Check aria-hidden size={13} className="invisible text-accent group-data-[selected]:visible" />
              <span className="flex flex-col">
                <Text slot="label">{option.text}</Text>
                {option.note && (
                  <Text slot="description" className="text-small text-muted">
                    {option.note}
                  </Text>
                )}
              </span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

export interface SwitchProps extends Omit<AriaSwitchProps, 'children' | 'className' | 'style'> {
  children: ReactNode;
}

export function Switch({ children, ...rest }: SwitchProps) {
  return (
    <AriaSwitch {...rest} className="group relative inline-flex min-h-6 items-center gap-2 data-[disabled]:opacity-50">
      <span
        aria-hidden
        className="flex h-4 w-7 shrink-0 items-center rounded-full border border-idle bg-transparent p-px transition-colors group-data-[focus-visible]:outline-2 group-data-[focus-visible]:outline-offset-2 group-data-[focus-visible]:outline-focus group-data-[selected]:border-accent group-data-[selected]:bg-accent"
      >
        <span className="size-3 rounded-full bg-idle transition-transform group-data-[selected]:translate-x-3 group-data-[selected]:bg-panel" />
      </span>
      {children}
    </AriaSwitch>
  );
}

export interface FilterFieldProps extends Omit<AriaSearchFieldProps, 'children' | 'className' | 'style'> {
  label: string;
  placeholder?: string;
  className?: string;
}

/** A field that filters the list next to it; Esc empties it. */
export function FilterField({ label, placeholder = 'Filter', className = '', ...rest }: FilterFieldProps) {
  return (
    <AriaSearchField {...rest} aria-label={label} className={className}>
      <Group className="field-frame flex items-center">
        <Search aria-hidden size={13} className="ml-2 shrink-0 text-faint" />
        <Input
          placeholder={placeholder}
          className="min-w-0 flex-1 bg-transparent px-2 py-1 [&::-webkit-search-cancel-button]:hidden"
        />
      </Group>
    </AriaSearchField>
  );
}

function FieldLabel({ isHidden, children }: { isHidden?: boolean | undefined; children: string }) {
  return <Label className={isHidden ? 'sr-only' : 'text-small text-muted'}>{children}</Label>;
}

function FieldFoot({ description, error }: Pick<FieldWords, 'description' | 'error'>) {
  return (
    <>
      {description && (
        <Text slot="description" className="text-small text-faint">
          {description}
        </Text>
      )}
      <FieldError className="text-small text-error">{error}</FieldError>
    </>
  );
}

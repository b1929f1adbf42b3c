import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../components/button.tsx';
import { TextField, type TextFieldProps } from '../../components/fields.tsx';

/** Names of variables whose values are masked on the screen; `author` is not a secret. */
const SECRET_NAME = /token|secret|passw|credential|key|auth(?!ors?(?![a-z]))|private/i;

/** Is a variable of such a name likely to hold a secret? */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A text that is not shown unless one asks for it. */
export function SecretField(props: Omit<TextFieldProps, 'type' | 'suffix'>) {
  const [isShown, setShown] = useState(false);
  return (
    <TextField
      {...props}
      type={isShown ? 'text' : 'password'}
      autoComplete="new-password"
      suffix={
        <IconButton
          icon={isShown ? EyeOff : Eye}
          label={`${isShown ? 'Hide' : 'Show'} ${props.label}`}
          className="-mr-1.5 size-6"
          onPress={() => setShown(!isShown)}
        />
      }
    />
  );
}

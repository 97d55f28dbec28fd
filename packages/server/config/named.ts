/** Names of the file as names of the code: `chain_id` is `chainId`, and `grace_s` is `graceMs`, in milliseconds. */
import { Secret } from '../ops/secret.ts'

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Key
type NameOf<Key extends string> = Key extends `${infer Stem}_s` ? `${Camel<Stem>}Ms` : Camel<Key>

export type Named<Value> = Value extends Secret
  ? Value
  : Value extends readonly (infer Entry)[]
    ? readonly Named<Entry>[]
    : Value extends object
      ? { readonly [Key in keyof Value & string as NameOf<Key>]: Named<Value[Key]> }
      : Value

export const named = <Value>(value: Value): Named<Value> => converted(value) as Named<Value>

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted)
  if (typeof value !== 'object' || value === null || value instanceof Secret) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) =>
      key.endsWith('_s')
        ? [camel(`${key.slice(0, -2)}_ms`), 1000 * (each as number)]
        : [camel(key), converted(each)],
    ),
  )
}

const camel = (key: string): string => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

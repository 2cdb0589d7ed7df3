import type { ContractSide } from '@gateway/api/graph'
import { shownField, shownType } from '../core/contract-commands.ts'
import { JsonField } from '../inspector/json-field.tsx'
import { NumberField, type HeldText } from '../inspector/fields.tsx'
import { Field } from '../../components/fields.tsx'
import { SelectField } from '../../components/select.tsx'
import { useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { reading } from '../../api/queries.ts'
import { useScope } from '../../api/session.ts'
import { announce } from '../../frame/announcer.ts'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { count } from '../../components/usd.ts'
import { readAssetFile, type AssetFormat, uploadAsset } from './asset-file.ts'
import { AssetView } from './value-view.tsx'

type Values = Record<string, unknown>

/** Form with a field for each input of the flow. Empty fields are omitted. @param heldOf from `useUnread` */
export function InputForm({
  side,
  values,
  heldOf,
  onChange,
}: {
  side: ContractSide
  values: Values
  heldOf: (field: string) => HeldText
  onChange: (change: (before: Values) => Values) => void
}) {
  // An upload ends after other fields were changed.
  const set = (name: string) => (value: unknown) =>
    onChange(({ [name]: _, ...others }) => (value === undefined ? others : { ...others, [name]: value }))
  return Object.entries(side.properties).map(([name, schema]) => (
    <InputField
      key={name}
      name={name}
      schema={schema}
      held={heldOf(fieldName(name, schema))}
      value={values[name]}
      set={set(name)}
    />
  ))
}

type Schema = ContractSide['properties'][string]

/** A field of another type has nothing of the text before. */
const fieldName = (name: string, schema: Schema) => `${shownType(schema)} ${name}`

/**
 * Texts that cannot be read as values of their fields. While there is one, the value before it must not be sent: it
 * isn't what the form shows.
 * @param version changes when the form starts again with other values
 * @param onUnread called when such a text is typed
 */
export function useUnread(side: ContractSide, version = '', onUnread = () => {}) {
  const [unread, setUnread] = useState<{ version: string; texts: Record<string, string> }>({ version, texts: {} })
  const textsOf = (of: typeof unread) => (of.version === version ? of.texts : {})
  const texts = textsOf(unread)
  return {
    hasUnread: Object.entries(side.properties).some(([name, schema]) => Object.hasOwn(texts, fieldName(name, schema))),
    heldOf: (field: string): HeldText => ({
      get: () => texts[field],
      set: (text) => {
        setUnread((before) => {
          const { [field]: _, ...others } = textsOf(before)
          return { version, texts: text === null ? others : { ...others, [field]: text } }
        })
        if (text !== null) onUnread()
      },
    }),
  }
}

function InputField({
  name,
  schema,
  held,
  value,
  set,
}: {
  name: string
  schema: Schema
  held: HeldText
  value: unknown
  set: (value: unknown) => void
}) {
  const { type, title, options } = shownField(schema)
  const label = title || name
  const text = typeof value === 'string' ? value : ''
  if (type === 'number') return <NumberField label={label} held={held} value={value} onChange={set} />
  if (type === 'boolean')
    return (
      <label className="choice">
        <input type="checkbox" checked={value === true} onChange={({ target }) => set(target.checked)} />
        {label}
      </label>
    )
  if (type === 'select')
    return (
      <SelectField
        label={label}
        value={text}
        options={[['', 'None'], ...options.map((each) => [each, each] as const)]}
        onChange={(chosen) => set(chosen || undefined)}
      />
    )
  if (type === 'string')
    return (
      <Field label={label}>
        {(ids) => <textarea {...ids} rows={2} value={text} onChange={({ target }) => set(target.value || undefined)} />}
      </Field>
    )
  if (type === 'image' || type === 'audio')
    return <AssetField label={label} format={type} value={value} onChange={set} />
  return <JsonField label={`${label} (JSON)`} rows={3} held={held} value={value} onChange={set} />
}

const accepted = { image: 'image/png,image/jpeg,image/webp', audio: 'audio/wav,audio/mpeg' }

/** Field for an image or audio file: an upload or an existing asset of the project, with a preview. */
function AssetField({
  label,
  format,
  value,
  onChange,
}: {
  label: string
  format: AssetFormat
  value: unknown
  onChange: (value: { asset: string } | undefined) => void
}) {
  const scope = useScope()
  const client = useQueryClient()
  const listing = reading('/api/v2/tenants/{tenant}/projects/{project}/assets', {
    params: scope,
    query: { limit: 100 },
  })
  const { data, error: listError } = useQuery(listing)
  const [uploaded, setUploaded] = useState<StoredAssetRecord[]>([])
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const known = new Map([...uploaded, ...(data?.data ?? [])].map((each) => [each.id, each]))
  const asset = (value as { asset?: string } | undefined)?.asset ?? ''
  const chosen = known.get(asset)
  const fitting = [...known.values()].filter(({ mimeType }) => mimeType.startsWith(`${format}/`))

  const take = async (file: File) => {
    setError(null)
    const read = await readAssetFile(file, format)
    setFault('fault' in read ? read.fault : null)
    if ('fault' in read) return
    setSending(true)
    try {
      const made = await uploadAsset(scope, file, read.type)
      setUploaded((before) => [made, ...before])
      onChange({ asset: made.id })
      announce(`${file.name} uploaded.`)
      void client.invalidateQueries({ queryKey: listing.queryKey })
    } catch (failed) {
      setError(failed)
    } finally {
      setSending(false)
    }
  }
  return (
    <div className="stack" role="group" aria-label={label}>
      <Field
        label={chosen ? `${label}: another file` : label}
        hint={isSending ? 'Uploading…' : 'At most 25,000,000 bytes.'}
        fault={fault}
      >
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept={accepted[format]}
            disabled={isSending}
            onChange={({ target }) => {
              const [file] = target.files ?? []
              target.value = ''
              if (file) void take(file)
            }}
          />
        )}
      </Field>
      <RefusalBox error={error ?? listError} />
      {fitting.length > 0 && (
        <SelectField
          label={`${label}: project asset`}
          value={chosen?.id ?? ''}
          options={[
            ['', 'None'],
            ...fitting.map(
              ({ id, createdAt, bytes }) =>
                [
                  id,
                  `${createdAt.slice(0, 16).replace('T', ' ')} UTC, ${count(bytes)} bytes, …${id.slice(-6)}`,
                ] as const,
            ),
          ]}
          onChange={(id) => onChange(id === '' ? undefined : { asset: id })}
        />
      )}
      <AssetIdField label={label} asset={asset} onChange={onChange} />
      {chosen && (
        <>
          <AssetView asset={chosen.id} mimeType={chosen.mimeType} bytes={chosen.bytes} />
          <div className="buttons">
            <button type="button" className="button small quiet" onClick={() => onChange(undefined)}>
              Remove
            </button>
          </div>
        </>
      )}
    </div>
  )
}

/** ID of an asset, or '' for none. */
function AssetIdField({
  label,
  asset,
  onChange,
}: {
  label: string
  asset: string
  onChange: (value: { asset: string } | undefined) => void
}) {
  return (
    <Field label={`${label}: asset ID`} hint="Copy the ID from the Assets page.">
      {(ids) => (
        <input
          {...ids}
          value={asset}
          placeholder="ast_…"
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => {
            const id = target.value.trim()
            onChange(id === '' ? undefined : { asset: id })
          }}
        />
      )}
    </Field>
  )
}

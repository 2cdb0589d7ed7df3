import { useState } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { reading } from '../../api/reading.ts'
import { useScope } from '../../api/use-project.ts'
import { announce } from '../../frame/announcer.ts'
import { Field } from '../../components/field.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { count } from '../../pure/usd.ts'
import { AssetIdField } from './asset-id-field.tsx'
import { readAssetFile, type AssetFormat } from './asset-file.ts'
import { AssetView } from './asset-view.tsx'
import { uploadAsset } from './upload-asset.ts'

const accepted = { image: 'image/png,image/jpeg,image/webp', audio: 'audio/wav,audio/mpeg' }

/** Field for an image or audio file: an upload or an existing asset of the project, with a preview. */
export function AssetField({
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
        <Field label={`${label}: project asset`}>
          {(ids) => (
            <select
              {...ids}
              value={chosen?.id ?? ''}
              onChange={({ target }) => onChange(target.value === '' ? undefined : { asset: target.value })}
            >
              <option value="">none</option>
              {fitting.map(({ id, createdAt, bytes }) => (
                <option key={id} value={id}>
                  {`${createdAt.slice(0, 16).replace('T', ' ')} UTC, ${count(bytes)} bytes, …${id.slice(-6)}`}
                </option>
              ))}
            </select>
          )}
        </Field>
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

import { Field } from '../../components/field.tsx'

/** ID of an asset, or '' for none. */
export function AssetIdField({
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

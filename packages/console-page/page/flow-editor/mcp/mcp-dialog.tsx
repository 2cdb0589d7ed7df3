import { useState } from 'react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ask } from '../../api/ask.ts'
import { keepAnswer, reading } from '../../api/queries.ts'
import { useBaseUrl, useScope } from '../../api/session.ts'
import { announce } from '../../frame/announcer.ts'
import { Copyable } from '../../components/copying.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { SelectField } from '../../components/select.tsx'
import { RefusalBox } from '../../components/refusal-box.tsx'
import { useSession } from '../state/open-editor.ts'
import { clientSettings } from '@gateway/flow/client-settings'
import { exampleInput } from '../core/contract-commands.ts'

const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}'

/** Exposes the flow as an MCP tool and shows the configuration of each client. The configuration contains no secret. */
export function McpDialog({ sandbox: id, onClose }: { sandbox: string; onClose: () => void }) {
  const scope = useScope()
  const client = useQueryClient()
  const { graph } = useSession().model
  const baseUrl = useBaseUrl()
  const params = { tenant: scope.tenant, sandbox: id }
  const { data: sandbox, error } = useQuery(reading(path, { params }))
  const [title, setTitle] = useState('Claude Desktop')
  const change = useMutation({
    mutationFn: (mcpEnabled: boolean) => ask('PATCH', path, { params, body: { mcpEnabled } }),
    onSuccess: (changed) => {
      announce(changed.mcpEnabled ? 'MCP access enabled.' : 'MCP access disabled.')
      return keepAnswer(client, reading(path, { params }), changed)
    },
  })
  const name =
    sandbox?.name
      .replaceAll(/[^\w]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .toLowerCase() || id
  const settings = clientSettings({
    name,
    address: `${baseUrl}/v1/sandbox/${id}/mcp`,
    topics: exampleInput(graph.input),
  })
  const shown = settings.find((one) => one.title === title) ?? settings[0]!
  return (
    <Dialog title="Connect client" onClose={onClose}>
      <RefusalBox error={error ?? change.error} />
      {sandbox && (
        <label className="choice">
          <input
            type="checkbox"
            checked={sandbox.mcpEnabled}
            disabled={change.isPending}
            onChange={({ target }) => change.mutate(target.checked)}
          />
          Expose as MCP server
        </label>
      )}
      {sandbox?.mcpEnabled === false && <p className="soft">Clients are refused while this is off.</p>}
      {sandbox?.activeRevision === null && (
        <p className="soft">Activate a revision first. Clients call the active revision.</p>
      )}
      <SelectField
        label="Client"
        value={title}
        options={settings.map((one) => [one.title, one.title] as const)}
        onChange={setTitle}
      />
      <p className="small">Goes into {shown.where}.</p>
      <Copyable text={shown.text} label={`Copy the settings for ${shown.title}`} />
      <p className="small">
        Replace <code>svc_your_key</code> with a key of this project and <code>/path/to</code> with the folder of the
        archive that <code>npm pack</code> makes in <code>clients/cli</code>. Create a key under{' '}
        <Link to="/projects/$tenant/$project/keys" params={scope}>
          Keys
        </Link>
        .
      </p>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

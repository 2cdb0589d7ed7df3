import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { Screen } from '../frame/screen.tsx'
import { Facts } from '../components/facts.tsx'
import { Moment } from '../components/moment.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/waiting.tsx'
import { useMyRoles } from '../users/use-my-roles.ts'
import { DeleteProjectDialog } from './delete-project-dialog.tsx'
import { KeyRotationForm } from './key-rotation-form.tsx'
import { ProjectTokens } from './project-tokens.tsx'
import { QuotaTable } from './quota-table.tsx'
import { RatesForm } from './rates-form.tsx'
import { RetentionForm } from './retention-form.tsx'

/** Project details, asset retention, rate limits, key rotation, quotas, service tokens and deletion. */
export function SettingsScreen() {
  const { tenant, project: id } = useScope()
  const { isAdmin, isOwner, hasGrant } = useMyRoles()
  const projects = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const project = projects.data?.find((each) => each.id === id)
  const team = teams.data?.find((each) => each.id === project?.team)
  return (
    <Screen title="Settings" of={project?.name ?? 'Project'}>
      <RefusalBox error={projects.error} />
      {!projects.data && !projects.error && <Waiting what="settings" />}
      {projects.data && !project && <p className="notice">Project not found, or you don't have access to it.</p>}
      {project && (
        <>
          <section className="card stack" aria-label="Project">
            <Facts
              of={[
                ['Name', project.name],
                ['Team', team?.name ?? project.team],
                ['Created', <Moment iso={project.createdAt} to="day" />],
                ['Project ID', <code>{project.id}</code>],
              ]}
            />
          </section>
          <RetentionForm key={project.id} project={project} isOwner={isOwner} />
          <RatesForm key={`rates of ${project.id}`} project={project} isOwner={isOwner} />
          <KeyRotationForm key={`rotation of ${project.id}`} project={project} isOwner={isOwner} />
          {hasGrant && <QuotaTable />}
          {isOwner ? (
            <ProjectTokens />
          ) : (
            <p className="soft">Only a Project Owner can create service tokens and change settings.</p>
          )}
          {isAdmin && (
            <section className="card stack" aria-label="Delete project">
              <h2>Delete project</h2>
              <p className="soft">Permanently deletes the project with its keys, flows and tokens.</p>
              <div className="buttons">
                <button type="button" className="button danger" onClick={() => setDeleting(true)}>
                  Delete project
                </button>
              </div>
            </section>
          )}
          {isDeleting && (
            <DeleteProjectDialog
              of={project}
              onDone={() => void navigate({ to: '/organizations/$tenant/projects', params: { tenant } })}
              onClose={() => setDeleting(false)}
            />
          )}
        </>
      )}
    </Screen>
  )
}

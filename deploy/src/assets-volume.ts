import type { Given } from './environment-problems.ts'
import type { Workload } from './workloads.ts'

/**
 * Where a workload keeps assets, to be held against that of others: a bucket, or a claim that is mounted at its folder.
 * @throws Error where they would be lost with the pod
 */
export function assetsVolume({ name, pod }: Workload, settings: Given): object {
  const { ASSETS_FOLDER: folder, ASSETS_S3_BUCKET: bucket } = settings
  if (bucket !== undefined) return bucketOf(settings)
  const claimName = mountedAt(pod, folder ?? '')?.persistentVolumeClaim?.claimName
  if (claimName === undefined) throw new Error(`${name} would keep assets in ${folder}, which ends with it`)
  return { claimName, folder }
}

/** The volume that a pod's first container can write to at a path. */
export function mountedAt({ containers, volumes = [] }: Workload['pod'], path: string) {
  const mount = containers[0]?.volumeMounts?.find(({ mountPath, readOnly }) => mountPath === path && readOnly !== true)
  return volumes.find(({ name }) => name === mount?.name)
}

function bucketOf(settings: Given): Given {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name.startsWith('ASSETS_')))
}

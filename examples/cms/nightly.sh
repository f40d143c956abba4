#!/bin/bash
# Once a night: the server's store forgets what removed documents have left in its log. Clients wait up to 10 seconds
# for a server to come back.
#
# usage: nightly.sh STORE COMMAND... (stops the server); then start it again: systemctl stop and start, for example
set -euo pipefail
store=${1:?usage: nightly.sh STORE COMMAND...}
shift
"$@"
unseen rewrite --wait=5 "$store"
unseen verify "$store"

#!/usr/bin/env bash
# Run once by the image of PostgreSQL when it creates its data: makes the role and the database of the service.
#
# The role is no superuser: a superuser may read every file of the server's machine and run programs there. The image's own
# superuser gets no password, so that it signs in inside the container alone.
set -eo pipefail
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" \
  --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE pombo LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE pombo OWNER pombo;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
